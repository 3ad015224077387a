/// Parses and formats durations as people write them.
package enum Durations {
    /// Parses `500ms`, `2s`, `15m`, `1h`, `1d`, `1w`, `1y` (365 days), or a bare number of seconds, with decimals; returns `nil` for
    /// anything else, including negative and infinite durations.
    package static func duration(_ text: some StringProtocol) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let scale: Double
        switch text[digits.endIndex...] {
        case "ms": scale = 0.001
        case "", "s": scale = 1
        case "m": scale = 60
        case "h": scale = 3600
        case "d": scale = 86_400
        case "w": scale = 7 * 86_400
        case "y": scale = 365 * 86_400
        default: return nil
        }
        guard let value = Double(digits), value.isFinite, value * scale <= 1e10 else { return nil }
        return .milliseconds((value * scale * 1000).rounded())
    }

    /// Returns `duration` in its largest unit up to days in which it is a whole number, such as `90s` or `365d`.
    package static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        guard milliseconds != 0 else { return "0s" }
        for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)] as [(String, Int64)]
        where milliseconds.isMultiple(of: size) {
            return "\(milliseconds / size)\(unit)"
        }
        return "\(milliseconds)ms"
    }

    /// Parses a position in an item, `S`, `M:SS` or `H:MM:SS`, with decimals in the last part, as seconds; returns `nil` for anything
    /// else.
    package static func position(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count) else { return nil }
        var total = 0.0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard let first = part.first, first.isASCII, first.isNumber,
                part.allSatisfy({ $0.isASCII && ($0.isNumber || (isLast && $0 == ".")) }),
                let value = Double(part), value.isFinite, index == 0 || value < 60
            else { return nil }
            total = total * 60 + value
        }
        return total
    }

    /// Returns `M:SS` or `H:MM:SS`, in whole seconds, rounded down.
    package static func clock(_ seconds: Double) -> String {
        let total = Int(exactly: max(0, seconds).rounded(.down)) ?? 0
        let padded = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        return total < 3600
            ? "\(total / 60):\(padded(total % 60))"
            : "\(total / 3600):\(padded(total / 60 % 60)):\(padded(total % 60))"
    }
}

extension Duration {
    /// The whole milliseconds; the rest is truncated.
    package var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// The whole nanoseconds; sufficient for 292 years.
    package var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }

    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
