/// The speed of a replay.
package enum ReplayRate: Codable, Hashable, Sendable, CustomStringConvertible {
    /// A multiple of the recorded speed; finite and above 0.
    case times(Double)
    /// As fast as the filter accepts fixes.
    case max

    /// Parses a number from 0.001 to 1,000,000, or `max`; returns `nil` for anything else.
    package init?(_ text: String) {
        if text == "max" {
            self = .max
        } else if text.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }), let value = Double(text),
            (0.001...1_000_000).contains(value)
        {
            self = .times(value)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .times(let value): value.rounded() == value && value < 1e15 ? "\(Int64(value))" : "\(value)"
        case .max: "max"
        }
    }
}
