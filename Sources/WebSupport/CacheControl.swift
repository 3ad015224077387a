package import FoundationEssentials

/// The `Cache-Control` directives that determine how long a response stays fresh (RFC 9111, 4.2 and 5.2).
package struct CacheControl: Hashable, Sendable {
    /// Seconds; `nil` if the directive is missing or invalid.
    package private(set) var maxAge: Int?
    package private(set) var isNoStore = false
    package private(set) var isNoCache = false

    /// Parses the values of all `Cache-Control` headers.
    ///
    /// Unknown and invalid directives are ignored. If `max-age` occurs more than once, the first valid one counts.
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
                // Too large for an `Int`.
                maxAge = Int(digits) ?? .max
            default: continue
            }
        }
    }

    /// Returns how long the response stays fresh after `now`: `max-age` minus `age`, or else `expires` minus `date`.
    ///
    /// The result is from 0 to 24 hours; `nil` if the response says nothing about it. `age`, `expires` and `date` are
    /// the values of the headers of these names.
    package func freshness(age: String?, expires: String?, date: String?, now: Date) -> Duration? {
        if isNoStore || isNoCache { return .zero }
        if let maxAge {
            let age = age.flatMap { Int($0) } ?? 0
            return .seconds(min(86_400, max(0, maxAge - max(0, age))))
        }
        guard let expires else { return nil }
        // An invalid `Expires`, such as 0, is in the past (RFC 9111, 5.3).
        guard let end = HTTPDate.date(expires, now: now) else { return .zero }
        let begin = date.flatMap { HTTPDate.date($0, now: now) } ?? now
        return .seconds(min(86_400, max(0, end.timeIntervalSince(begin))))
    }
}
