import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

struct TrackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Show, export, import and replay the track of this machine.",
        discussion: """
            The rolling track holds the newest 100 points, the history all stored points. \
            Without a subcommand, runs `track show`, which prints the rolling track.

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
            abstract: "Print the rolling track: up to 100 points, newest last.",
            discussion: """
                EXAMPLES
                  backgrounder track show --last 5
                  backgrounder track --format geojson > newest.geojson
                  backgrounder track --follow --format json | jq .speed
                """
        )

        @Option(
            help: ArgumentHelp("Number of newest points to print, 1 to 100 (default 100).", valueName: "n"),
            transform: wholeNumber("1 to 100")
        )
        var last = 100

        @Flag(help: "Keep printing new points until Ctrl-C.")
        var follow = false

        @OptionGroup var service: ServiceOptions

        @Option(help: "Output format.")
        var format = PointFormat.table

        func validate() throws {
            guard (1...100).contains(last) else {
                throw ValidationError("--last \(last) is out of range; use 1 to 100")
            }
            if follow, format != .table, format != .json {
                throw ValidationError("--follow cannot print \(format.rawValue); use table or json")
            }
        }

        func run() async throws {
            let client = service.client
            guard !follow else { return try await follow(client) }
            let track = try await client.call(Routes.track, query: [("last", String(last))])
            if let format = format.encoded {
                try Output.write(track, as: format)
            } else {
                try Output.print(LocationTable().render(track))
                if StandardOutput.isTerminal, let line = LocationTable.speeds(of: track) { try Output.print(line) }
            }
        }

        private func follow(_ client: Client) async throws {
            var isFirst = true
            try await client.events(attach: false) { event in
                switch event {
                case .state(let state):
                    // Later states repeat points that also arrive as events.
                    guard isFirst else { break }
                    isFirst = false
                    if format == .table { try Output.print(LocationTable().heading) }
                    for location in state.track.suffix(last) { try show(location) }
                case .location(let location): try show(location)
                default: break
                }
                return true
            }
        }

        private func show(_ location: Location) throws {
            if format == .json { try Output.json(location) } else { try Output.print(LocationTable().line(location)) }
        }
    }

    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Print the stored points of a time range or a trip, oldest first.",
            discussion: """
                Without a range, prints the whole history. \(HistoryRange.times)

                EXAMPLES
                  backgrounder track history --since 2h
                  backgrounder track history --since yesterday --format csv > track.csv
                  backgrounder track history --trip 3 --format json
                """
        )

        @OptionGroup var range: HistoryRange
        @OptionGroup var service: ServiceOptions

        @Option(help: "Output format.")
        var format = PointFormat.table

        func run() async throws {
            let client = service.client
            if let format = format.encoded {
                return try await client.history(range, as: format) { try Output.write(bytes: Array($0)) }
            }
            var isEmpty = true
            let table = LocationTable()
            try await client.history(range) { location in
                if isEmpty { try Output.print(table.heading) }
                isEmpty = false
                try Output.print(table.line(location))
            }
            if isEmpty { try Output.print("No points in this range.") }
        }
    }

    struct Replay: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay",
            abstract: "Run a recording through the filter, without a service.",
            discussion: """
                FILE is a GPX file, gpsd-log:FILE with gpsd's JSON lines, or gpsd://host[:port] for a live gpsd. The options \
                can explain each decision of the filter, or compare the result with an expected one.

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
            help: ArgumentHelp("The file and the options.")
        )
        var arguments: [String] = []

        func run() async throws {
            try Launcher.exec(["replay"] + arguments)
        }
    }
}

/// An output format for points.
enum PointFormat: String, FixedWord {
    case table, json, geojson, gpx, kml, csv

    /// The file format; `nil` for the table.
    var encoded: TrackFormat? { TrackFormat(rawValue: rawValue) }
}

extension Output {
    /// Writes `locations` to stdout as a document of `format`.
    static func write(_ locations: [Location], as format: TrackFormat) throws {
        guard format != .json else { return try json(locations) }
        var encoder = format.makeEncoder()
        try write(encoder.begin() + locations.map { encoder.append($0) }.joined() + encoder.end())
    }
}
