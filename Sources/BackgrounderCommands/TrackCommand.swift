import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import NIOCore

struct TrackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Where this machine was: the rolling track, the history, a replay.",
        discussion: """
            EXAMPLES
              backgrounder track --last 5
              backgrounder track --follow --format json
              backgrounder track history --since 2h --format gpx > trip.gpx
              backgrounder track trips --since 7d
              backgrounder track map --trip 3 > trip.svg
              backgrounder track export --trip 3 -o trip.gpx
              backgrounder track import old-logger.gpx
              backgrounder track replay tracks/city-walk.gpx --filter 10
            """,
        subcommands: [
            Rolling.self, History.self, Trips.self, Map.self, Import.self, Export.self, Delete.self, Replay.self,
        ],
        defaultSubcommand: Rolling.self
    )

    struct Rolling: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "The newest points, at most 100, newest last (the default).",
            discussion: """
                EXAMPLES
                  backgrounder track --last 5
                  backgrounder track --format geojson > newest.geojson
                  backgrounder track --follow --format json | jq .speed
                """,
            shouldDisplay: false
        )

        @Option(
            help: ArgumentHelp("Only the newest so many, 1 to 100.", valueName: "n"),
            transform: wholeNumber("1 to 100")
        )
        var last = 100

        @Flag(help: "Go on with each new point until Ctrl-C.")
        var follow = false

        @OptionGroup var service: ServiceOptions

        @Option(help: "table, json, geojson, gpx, kml or csv.")
        var format = PointFormat.table

        func validate() throws {
            guard (1...100).contains(last) else {
                throw ValidationError("--last \(last) is no count of points: give 1 to 100")
            }
            if follow, format != .table, format != .json {
                throw ValidationError("--follow prints table or json, not \(format.rawValue)")
            }
        }

        func run() async throws {
            try await Client.use(service.paths) { client in
                guard !follow else { return try await follow(client) }
                let track = try await client.call(Routes.track, query: [("last", String(last))])
                if let format = format.encoded {
                    try Output.write(track, as: format)
                } else {
                    try Output.print(LocationTable.render(track))
                    if Output.isTerminal, let line = LocationTable.speeds(of: track) { try Output.print(line) }
                }
            }
        }

        private func follow(_ client: Client) async throws {
            var isFirst = true
            try await client.events(attach: false) { event in
                switch event {
                case .state(let state):
                    // Later states repeat what came as events.
                    guard isFirst else { break }
                    isFirst = false
                    if format == .table { try Output.print(LocationTable.heading) }
                    for location in state.track.suffix(last) { try show(location) }
                case .location(let location): try show(location)
                default: break
                }
                return true
            }
        }

        private func show(_ location: Location) throws {
            if format == .json { try Output.json(location) } else { try Output.print(LocationTable.line(location)) }
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "All points of a time, oldest first; without a range all.",
            discussion: """
                \(HistoryRange.times)

                EXAMPLES
                  backgrounder track history --since 2h
                  backgrounder track history --since yesterday --format csv > track.csv
                  backgrounder track history --trip 3 --format json
                """
        )

        @OptionGroup var range: HistoryRange
        @OptionGroup var service: ServiceOptions

        @Option(help: "table, json, geojson, gpx, kml or csv.")
        var format = PointFormat.table

        func run() async throws {
            try await Client.use(service.paths) { client in
                if let format = format.encoded {
                    return try await client.history(range, as: format) { try Output.write(String(buffer: $0)) }
                }
                var isEmpty = true
                try await client.history(range) { location in
                    if isEmpty { try Output.print(LocationTable.heading) }
                    isEmpty = false
                    try Output.print(LocationTable.line(location))
                }
                if isEmpty { try Output.print("No points in this time.") }
            }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Run a recording through the filter without a service, explain it, hold it against what is expected.",
            discussion: """
                FILE is a GPX file, gpsd-log:FILE with gpsd's JSON lines, or gpsd://host[:port] for a live gpsd; the options \
                are those of `backgrounder track replay --help`.

                EXAMPLES
                  backgrounder track replay drive.gpx --filter 10 --explain
                  backgrounder track replay drive.gpx --format expected > drive.expected.json
                  backgrounder track replay drive.gpx --expect drive.expected.json
                  backgrounder track replay gpsd://localhost --record drive.jsonl --for 10m
                  backgrounder track replay gpsd-log:drive.jsonl --rejected
                """
        )

        @Argument(
            parsing: .captureForPassthrough,
            help: ArgumentHelp("FILE and the options.")
        )
        var arguments: [String] = []

        func run() async throws {
            try Launcher.exec(["replay"] + arguments)
        }
    }
}

enum PointFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json, geojson, gpx, kml, csv

    /// `nil` for the table.
    var encoded: TrackFormat? { TrackFormat(rawValue: rawValue) }
}

/// A time as people give it.
struct PointInTime {
    let date: Date

    /// Refuses a range that ends before it begins: it would look like one without points.
    static func check(since: PointInTime?, until: PointInTime?) throws {
        guard let since = since?.date, let until = until?.date, since > until else { return }
        throw ValidationError(
            "--since \(ISO8601.string(since)) is later than --until \(ISO8601.string(until)): exchange them"
        )
    }

    /// For options.
    @Sendable static func parse(_ text: String) throws -> PointInTime {
        guard let time = PointInTime(argument: text) else {
            throw ValidationError(
                "\(text.debugDescription) is no time: give ISO 8601, now, today, yesterday, or a span before now such as 10m, 2h, 7d"
            )
        }
        return time
    }

    init?(argument: String) {
        switch argument {
        case "now": date = Date()
        case "today": date = Calendar.current.startOfDay(for: Date())
        case "yesterday":
            // Days have 23 to 25 hours; half a day before midnight is yesterday in all of them.
            let today = Calendar.current.startOfDay(for: Date())
            date = Calendar.current.startOfDay(for: today.addingTimeInterval(-43_200))
        default:
            if let span = Durations.duration(argument), Double(argument) == nil {
                date = Date(timeIntervalSinceNow: -span.seconds)
            } else if let time = ISO8601.date(argument) {
                date = time
            } else {
                return nil
            }
        }
    }
}

extension Output {
    static func write(_ locations: [Location], as format: TrackFormat) throws {
        guard format != .json else { return try json(locations) }
        var encoder = format.makeEncoder()
        try write(encoder.begin() + locations.map { encoder.append($0) }.joined() + encoder.end())
    }
}
