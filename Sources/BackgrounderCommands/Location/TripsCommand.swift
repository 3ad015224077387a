import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension TrackCommand {
    struct Trips: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trips",
            abstract: "List the trips in the history, oldest first.",
            discussion: """
                A trip begins with the first movement, and ends with a stop or a gap of 10 minutes. The columns TIME and \
                MOVING are in hours and minutes.

                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track trips --since 7d
                  backgrounder track trips --since today --format json
                """
        )

        @Option(
            help: ArgumentHelp("Only trips that had not ended before this time.", valueName: "time"),
            transform: PointInTime.parse
        )
        var since: PointInTime?

        @Option(
            help: ArgumentHelp("Only trips that began before this time.", valueName: "time"),
            transform: PointInTime.parse
        )
        var until: PointInTime?

        @OptionGroup var reading: ReadingOptions

        func validate() throws {
            try PointInTime.check(since: since, until: until)
        }

        func run() async throws {
            let query = [since.map { ("since", $0) }, until.map { ("until", $0) }].compactMap(\.self)
                .map { ($0, ISO8601.string($1.date)) }
            let trips = try await reading.client.call(Routes.trips, query: query)
            try reading.show(trips) {
                TripTable.render($0, hasSparklines: (StandardOutput.widthLimit ?? 0) >= TripTable.wide)
            }
        }
    }
}

/// A table of trips.
enum TripTable {
    /// The width of the speed graph in characters: half the number of speeds that a trip has.
    private static let sparkline = 16

    /// The terminal columns of a table with speed graphs.
    static let wide = 100

    /// - Parameter limit: the most terminal columns of a line; `nil` for any number.
    static func render(
        _ trips: [Trip],
        hasSparklines: Bool,
        time: TimeStyle = .output,
        limit: Int? = StandardOutput.widthLimit
    )
        -> String
    {
        guard !trips.isEmpty else { return "No trips in this range." }
        var columns: [(heading: String, alignment: Table.Alignment)] = [
            ("ID", .right), ("START", .time), ("END", .time), ("KM", .right), ("TIME", .right), ("MOVING", .right),
            ("AVG km/h", .right), ("TOP km/h", .right),
        ]
        if hasSparklines { columns.append(("SPEED", .left)) }
        var table = Table(columns)
        for trip in trips {
            var cells = [
                String(trip.id), time.minute(trip.start),
                trip.inProgress == true ? "in progress" : time.minute(trip.end, after: trip.start) + time.age(trip.end),
                (trip.distance / 1000).decimals(2),
                hours(trip.duration), hours(trip.movingTime), (trip.averageSpeed * 3.6).decimals(1),
                (trip.topSpeed * 3.6).decimals(1),
            ]
            if hasSparklines { cells.append(Sparkline.render(trip.speeds, columns: sparkline)) }
            table.add(cells)
        }
        return table.render(limit: limit)
    }

    /// Formats `seconds` as hours and rounded minutes, such as `1:05`.
    private static func hours(_ seconds: Double) -> String {
        let minutes = Int((seconds / 60).rounded())
        return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }
}
