import BackgrounderAPI
import FoundationEssentials
import LocationUpdates

/// Prints a row a fix: what the filter knew of it and what it decided.
struct ExplanationPrinter: ReplaySink {
    private let format: ReplayCommand.Format
    private var isFirst = true
    private var output = BufferedOutput()

    var wantsExplanations: Bool { true }

    private static let columns: [(title: String, width: Int, isRight: Bool)] = [
        ("INDEX", 7, true), ("TIME", 24, false), ("± m", 8, true), ("SOURCE", 8, false), ("LIMIT m", 7, true),
        ("DIST m", 10, true), ("DECISION", 0, false),
    ]

    /// - Parameter format: table or json.
    init(format: ReplayCommand.Format) {
        self.format = format
        output.text.append(text: format == .json ? "[" : Self.line(Self.columns.map(\.title)))
    }

    mutating func take(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError) {
        let row = ExplainedFix(decision, fix)
        if format == .json {
            // The filter's numbers are finite, so that a row always encodes.
            try output.append((isFirst ? "\n" : ",\n") + ((try? JSON.line(row)) ?? "null"))
        } else {
            try output.append(Self.line(row))
        }
        isFirst = false
    }

    mutating func pause() throws(OutputError) { try output.flush() }

    mutating func end() throws(OutputError) {
        if format == .json { output.text.append(isFirst ? "]\n" : "\n]\n") }
        try output.flush()
    }

    private static func line(_ row: ExplainedFix) -> String {
        func number(_ value: Double?) -> String { value?.decimals(2) ?? "" }
        return line([
            "\(row.index)", row.timestamp.map { ISO8601.string($0) } ?? "", number(row.estimate),
            row.source?.rawValue ?? "", number(row.limit), number(row.distance), row.decisionInWords,
        ])
    }

    private static func line(_ cells: [String]) -> String {
        let padded = zip(cells, columns).map { cell, column in
            let padding = String(repeating: " ", count: max(0, column.width - cell.count))
            return column.isRight ? padding + cell : cell + padding
        }
        return padded.joined(separator: "  ") + "\n"
    }
}

/// One fix and what became of it; in JSON what is unknown is absent.
struct ExplainedFix: Encodable {
    var index: Int
    var timestamp: Date?
    /// Metres, Core Location's scale.
    var estimate: Double?
    var source: AccuracySource?
    /// Metres of the gate in force.
    var limit: Double?
    /// Metres from the last delivered point.
    var distance: Double?
    /// `accepted`, or the reason why not.
    var decision: String
    /// What decided, and what it had to keep to, in the unit of the reason: metres, metres a second, seconds.
    var value: Double?
    var bound: Double?
    /// Why an accepted point opens a segment.
    var segment: SegmentReason?

    init(_ decision: Decision, _ fix: ReplayedFix) {
        index = fix.index
        timestamp = fix.time
        estimate = fix.explanation?.estimate
        source = fix.explanation?.source
        limit = fix.explanation?.limit
        distance = fix.explanation?.distance
        switch decision {
        case .accepted:
            self.decision = "accepted"
            segment = fix.explanation?.segment
            bound = fix.explanation?.bound
            value = bound == nil ? nil : distance
        case .rejected(let rejection):
            self.decision = rejection.reason.rawValue
            value = rejection.value
            bound = rejection.limit
        }
    }

    /// `accepted, new segment (gap)`, `distance 3.20 m, limit 10 m`.
    var decisionInWords: String {
        if let segment { return "\(decision), new segment (\(segment.rawValue))" }
        guard decision != "accepted", let reason = RejectionReason(rawValue: decision) else {
            return decision + (bound.map { ", \($0.decimals(2)) m needed" } ?? "")
        }
        return Rejection(reason: reason, value: value, limit: bound, timestamp: nil).inWords
    }
}

extension Rejection {
    /// The reason with its value and its limit.
    var inWords: String {
        let value = value.map { " \($0.decimals(2)) \(reason.unit)" } ?? ""
        return reason.rawValue + value + (limit.map { ", limit \($0.decimals(2)) \(reason.unit)" } ?? "")
    }
}
