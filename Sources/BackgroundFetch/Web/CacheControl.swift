package import FoundationEssentials

/// What a response says of how long it is good (RFC 9111, 4.2 and 5.2).
package struct CacheControl: Hashable, Sendable {
    /// Seconds; absent when it is not said, or not understood.
    package private(set) var maxAge: Int?
    package private(set) var isNoStore = false
    package private(set) var isNoCache = false

    /// - Parameter values: those of all `Cache-Control` headers. What is not understood is left out; of a directive that is there
    ///   twice the first one counts.
    package init(_ values: some Sequence<String>) {
        for directive in values.joined(separator: ",").split(separator: ",").prefix(100) {
            let parts = directive.split(separator: "=", maxSplits: 1)
            let name = parts.first.map { $0.split(separator: " ").joined().lowercased() } ?? ""
            switch name {
            case "no-store": isNoStore = true
            case "no-cache": isNoCache = true
            case "max-age":
                let digits = parts.count > 1 ? parts[1].filter { $0 != "\"" && $0 != " " } : ""
                guard maxAge == nil, !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                    continue
                }
                // What does not fit is for ever.
                maxAge = Int(digits) ?? .max
            default: continue
            }
        }
    }

    /// How long the response stays fresh from `now` on: `max-age` without the `age` that it has, else `expires` less its `date`. From 0
    /// to 24 hours; `nil` when nothing is said.
    ///
    /// - Parameters: the values of `Age`, `Expires` and `Date`.
    package func freshness(age: String?, expires: String?, date: String?, now: Date) -> Duration? {
        if isNoStore || isNoCache { return .zero }
        if let maxAge {
            let age = age.flatMap { Int($0) } ?? 0
            return .seconds(min(86_400, max(0, maxAge - max(0, age))))
        }
        guard let expires else { return nil }
        // An `Expires` that is no time, such as 0, is in the past (RFC 9111, 5.3).
        guard let end = HTTPDate.date(expires, now: now) else { return .zero }
        let begin = date.flatMap { HTTPDate.date($0, now: now) } ?? now
        return .seconds(min(86_400, max(0, end.timeIntervalSince(begin))))
    }
}
