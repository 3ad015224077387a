import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import Places
import SystemSupport

/// Prints the events at places.
struct PlaceEventPrinter: ReplaySink {
    private var course: PlaceCourse
    private var rows: PlaceRows

    var wantsExplanations: Bool { false }

    init(_ course: PlaceCourse, asJSON: Bool) {
        self.course = course
        rows = PlaceRows(
            [
                ("PLACE", .left, 20), ("EVENT", .left, 8), ("DIST m", .right, 9), ("σ m", .right, 6), ("P", .right, 6),
                ("RULES", .left, 0),
            ],
            asJSON: asJSON
        )
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError) {
        guard let location = fix.passed else { return }
        for (_, event) in course.receive(location) {
            try rows.append(
                event,
                event.timestamp,
                [
                    event.place, event.event.rawValue, event.distance.decimals(2), event.sigma.decimals(2),
                    event.probability.decimals(4), String(event.actions.inWords.dropFirst(2)),
                ]
            )
        }
    }

    mutating func pause() throws(OutputError) { try rows.flush() }
    mutating func end() throws(OutputError) { try rows.end() }
}

/// Prints the figures of each fix at the places around it, and the decisions.
struct PlaceFigurePrinter: ReplaySink {
    private struct Row: Encodable {
        var timestamp: Date
        var place: String
        var distance: Double
        var sigma: Double
        var probability: Double
        var inside: Bool
        var event: PlaceEventKind?
    }

    private var course: PlaceCourse
    private var rows: PlaceRows

    /// Places farther away are not shown, in metres.
    private static let limit = 100.0

    var wantsExplanations: Bool { false }

    init(_ course: PlaceCourse, asJSON: Bool) {
        self.course = course
        rows = PlaceRows(
            [
                ("PLACE", .left, 20), ("DIST m", .right, 9), ("σ m", .right, 6), ("P", .right, 6), ("SIDE", .left, 7),
                ("EVENT", .left, 0),
            ],
            asJSON: asJSON
        )
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError) {
        guard let location = fix.passed else { return }
        let events = course.receive(location)
        for (id, figures, inside) in course.figures(location, within: Self.limit) {
            let event = events.first { $0.placeId == id }?.event
            let row = Row(
                timestamp: location.timestamp,
                place: course.name(id),
                distance: figures.distance,
                sigma: figures.sigma,
                probability: figures.probability,
                inside: inside,
                event: event?.event
            )
            try rows.append(
                row,
                row.timestamp,
                [
                    row.place, row.distance.decimals(2), row.sigma.decimals(2), row.probability.decimals(4),
                    inside ? "inside" : "outside",
                    event.map { $0.event.rawValue + $0.actions.inWords } ?? "",
                ]
            )
        }
    }

    mutating func pause() throws(OutputError) { try rows.flush() }
    mutating func end() throws(OutputError) { try rows.end() }
}

/// Compares the events with expected ones, in their order.
struct PlaceExpectation: ReplaySink {
    private var course: PlaceCourse
    private let expected: [ExpectedEvent]
    private let path: String
    private var count = 0
    private var differences: [String] = []
    private static let shown = 20

    var wantsExplanations: Bool { false }

    init(_ course: PlaceCourse, expected: [ExpectedEvent], path: String) {
        (self.course, self.expected, self.path) = (course, expected, path)
    }

    mutating func receive(_ decision: Decision, _ fix: ReplayedFix) {
        guard let location = fix.passed else { return }
        for (_, event) in course.receive(location) {
            let wanted = count < expected.count ? expected[count] : nil
            count += 1
            guard wanted?.matches(event) != true else { continue }
            let got =
                "\(event.event.rawValue) \(event.place) at \(ISO8601.string(event.timestamp))"
                + (wanted?.actions == nil ? "" : event.actions.inWords)
            differences.append("event \(count): expected \(wanted?.inWords ?? "no more"), got \(got)")
        }
    }

    mutating func pause() {}

    mutating func end() throws(OutputError) {
        if count < expected.count { differences.append("expected \(expected.count) events, got \(count)") }
        let more = differences.count - Self.shown
        let lines = differences.prefix(Self.shown) + (more > 0 ? ["and \(more) more"] : [])
        let heading = differences.isEmpty ? "identical, \(counted(count, "event"))" : "the events differ"
        try StandardOutput.write("\(path): \(heading)\n" + lines.map { "  \($0)\n" }.joined())
        failure = differences.isEmpty ? nil : "\(path): the events differ; `--explain` shows every fix"
    }

    /// Why the comparison failed, once it has ended.
    private(set) var failure: String?
}

/// Rows with a time, as a table or a JSON array.
private struct PlaceRows {
    private let columns: [(heading: String, alignment: Table.Alignment, width: Int)]
    private let asJSON: Bool
    private let style = RowStyle.output
    private var isFirst = true
    private var output = BufferedOutput()

    init(_ columns: [(heading: String, alignment: Table.Alignment, width: Int)], asJSON: Bool) {
        self.columns = [("TIME", .left, style.timeWidth)] + columns
        self.asJSON = asJSON
        output.text.append(text: asJSON ? "[" : line(self.columns.map(\.heading)))
    }

    mutating func append(_ row: some Encodable, _ time: Date, _ cells: [String]) throws(OutputError) {
        if asJSON {
            // The figures are finite, so a row always encodes.
            try output.append((isFirst ? "\n" : ",\n") + ((try? JSON.line(row)) ?? "null"))
        } else {
            try output.append(line([style.time(time)] + cells))
        }
        isFirst = false
    }

    mutating func flush() throws(OutputError) { try output.flush() }

    mutating func end() throws(OutputError) {
        if asJSON { output.text.append(isFirst ? "]\n" : "\n]\n") }
        try output.flush()
    }

    private func line(_ cells: [String]) -> String {
        style.line(Table.line(cells.map(\.withoutControlCharacters), columns.map(\.alignment), columns.map(\.width)))
    }
}
