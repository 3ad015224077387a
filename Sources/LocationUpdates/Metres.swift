/// The lengths that a setting can have.
package enum Metres {
    /// Half of the Earth's circumference: nothing is farther away.
    package static let maximum = 20_037_508

    /// Parses a length; returns `.some(nil)` for `none` and `nil` for an invalid text.
    package static func orNone(_ text: String) -> Double?? {
        if text == "none" { return .some(nil) }
        guard let value = Double(text), (0...Double(maximum)).contains(value) else { return nil }
        return value
    }
}
