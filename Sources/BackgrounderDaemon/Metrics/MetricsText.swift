import SystemSupport

/// Metrics in Prometheus' text format, version 0.0.4.
///
///     var metrics = MetricsText()
///     metrics.add("backgrounder_queue_items", .gauge, "Items in the queue.", 12)
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
struct MetricsText: Sendable {
    /// The media type of the format.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String, Sendable {
        /// A number that only grows, or begins again at zero. Its name ends with `_total`.
        case counter
        case gauge
    }

    /// One value of a metric.
    struct Sample {
        var labels: KeyValuePairs<String, String> = [:]
        var value: Double

        init(_ labels: KeyValuePairs<String, String>, _ value: some BinaryInteger) {
            (self.labels, self.value) = (labels, Double(value))
        }
    }

    private(set) var text = ""

    /// Adds a metric with one value.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        addHead(name, kind, help)
        addLine(name, [:], value)
    }

    /// Adds a metric with a value for each combination of its labels; nothing if there is none.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        addHead(name, kind, help)
        for sample in samples { addLine(name, sample.labels, sample.value) }
    }

    private mutating func addHead(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func addLine(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double) {
        let pairs = labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
        text += "\(name)\(pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}") \(Self.number(value))\n"
    }

    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        if let integer = Int(exactly: value) { return String(integer) }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value.isNaN ? "NaN" : "\(value)"
    }
}
