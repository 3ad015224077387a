import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import SystemSupport

/// Prints one row per fix: the filter's figures and its decision.
struct ExplanationPrinter: ReplaySink {
    private let format: ReplayFormat
    private let style: RowStyle
    private var isFirst = true
    private var output = BufferedOutput()

    var wantsExplanations: Bool { true }

    private let columns: [(heading: String, alignment: Table.Alignment, width: Int)]

    /// Creates a printer for `format`, which is table or json.
    init(format: ReplayFormat, style: RowStyle = .output) {
        self.format = format
        self.style = style
        columns = [
            ("INDEX", .right, 7), ("TIME", .left, style.timeWidth), ("± m", .right, 8),
            ("SOURCE", .left, 8), ("LIMIT m", .right, 7), ("DIST m", .right, 10), ("DECISION", .left, 0),
        ]
        output.text.append(text: format == .json ? "[" : line(columns.map(\.heading)))
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError) {
        let row = ExplainedFix(decision, fix)
        if format == .json {
            // The filter's numbers are finite, so a row always encodes.
            try output.append((isFirst ? "\n" : ",\n") + ((try? JSON.line(row)) ?? "null"))
        } else {
            try output.append(line(row))
        }
        isFirst = false
    }

    mutating func pause() throws(OutputError) { try output.flush() }

    mutating func end() throws(OutputError) {
        if format == .json { output.text.append(isFirst ? "]\n" : "\n]\n") }
        try output.flush()
    }

    private func line(_ row: ExplainedFix) -> String {
        func number(_ value: Double?) -> String { value?.decimals(2) ?? "" }
        return line([
            "\(row.index)", row.timestamp.map(style.time) ?? "", number(row.estimate), row.source?.rawValue ?? "",
            number(row.limit), number(row.distance), row.decisionInWords,
        ])
    }

    private func line(_ cells: [String]) -> String {
        style.line(Table.line(cells, columns.map(\.alignment), columns.map(\.width)))
    }
}

/// A fix and the decision about it. In JSON, unknown values are absent.
struct ExplainedFix: Encodable {
    var index: Int
    var timestamp: Date?
    /// In metres, on Core Location's scale.
    var estimate: Double?
    var source: AccuracySource?
    /// The gate's limit in metres.
    var limit: Double?
    /// The distance from the last delivered point in metres.
    var distance: Double?
    /// `accepted`, or the reason for the rejection.
    var decision: String
    /// The decisive value and its bound, in the unit of the reason: metres, metres per second or seconds.
    var value: Double?
    var bound: Double?
    /// Why the accepted point opens a segment.
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
    /// The reason with value and limit.
    var inWords: String {
        let value = value.map { " \($0.decimals(2)) \(reason.unit)" } ?? ""
        return reason.rawValue + value + (limit.map { ", limit \($0.decimals(2)) \(reason.unit)" } ?? "")
    }
}
