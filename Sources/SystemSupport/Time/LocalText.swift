package import FoundationEssentials

extension Date {
    /// The local time with its offset from UTC, such as `2026-11-21T07:55:49.786+01:00`.
    package var localText: String {
        let offset = LocalClock.offset(at: self)
        let minutes = abs(offset) / 60
        let zone = "\(offset < 0 ? "-" : "+")\((minutes / 60).twoDigits):\((minutes % 60).twoDigits)"
        return ISO8601.string(addingTimeInterval(TimeInterval(offset))).dropLast() + zone
    }

    /// The local time to the second, such as `2026-11-21 07:55:49`.
    package var localSeconds: String { String(localText.prefix(19).replacing("T", with: " ")) }
}

extension Int {
    fileprivate var twoDigits: String { self < 10 ? "0\(self)" : String(self) }
}
