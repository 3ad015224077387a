import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates
import Places
import ReplayTools
import SystemSupport

/// `backgrounderd place-replay FILE`: runs a recording past the places of files, without a service and its configuration.
struct PlaceReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "place-replay",
        abstract: "Run a recording past the places of a file, without a service.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder place replay <file> --places <file> ... [<options>]" : nil,
        discussion: """
            Prints the events, and a summary of the fixes to stderr. The events depend on the fixes that pass the accuracy \
            gate, and not on a distance filter.

            EXAMPLES
              backgrounder place replay walk.gpx --places tour.geojson
              backgrounder place replay walk.gpx --places tour.geojson --explain
              backgrounder place replay walk.gpx --places tour.geojson --rules tour.yaml
              backgrounder place replay walk.gpx --places tour.geojson --format json \\
                > walk.events.json
              backgrounder place replay walk.gpx --places tour.geojson \\
                --expect walk.events.json
            """
    )

    @Argument(
        help: ArgumentHelp("GPX 1.0 or 1.1 file, or gpsd-log:FILE with gpsd's JSON lines.", valueName: "file")
    )
    var file: String

    @Option(help: ArgumentHelp("File with places, as for `place import`; may be repeated.", valueName: "file"))
    var places: [String] = []

    @Option(
        help: ArgumentHelp(
            "Configuration file with places.rules, whose actions are shown and not done.",
            valueName: "file"
        )
    )
    var rules: String?

    @Flag(help: "Print the figures of each fix at the places within 100 m instead.")
    var explain = false

    @Option(
        help: ArgumentHelp(
            "Compare the events with those in this file, which --format json wrote; exit 1 if they differ.",
            valueName: "file.json"
        )
    )
    var expect: String?

    @Option(help: ArgumentHelp("Accuracy level (default best).", valueName: "level"))
    var accuracy: DesiredAccuracy?

    @Option(help: "Output format: table for people, json for scripts (default table).")
    var format: OutputFormat?

    func validate() throws {
        guard !places.isEmpty else { throw ValidationError("the places are missing; name a file with --places") }
        if expect != nil, explain || format != nil {
            throw ValidationError("--expect prints the differences only; omit \(explain ? "--explain" : "--format")")
        }
        guard try !input().isLive else {
            throw ValidationError("a live gpsd has no end; record it with `track replay --record`")
        }
    }

    /// Reads the rules, or exits with their faults.
    private func readRules() -> [PlaceRule] {
        guard let rules else { return [] }
        let file = ConfigurationLayer(file: RuntimePaths.absolute(rules))
        guard file.faults.isEmpty else {
            let isMissing = !FileManager.default.fileExists(atPath: RuntimePaths.absolute(rules))
            DaemonCommand.fail(
                ConfigurationError(file.faults, isWrongArgument: false).description,
                code: isMissing ? DaemonCommand.noSuchItem : 1
            )
        }
        return file.placeRules.rules
    }

    private func input() throws(ValidationError) -> ReplayInput {
        do {
            return try ReplayInput(file, rate: .max)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        do {
            let replay = try PlaceReplay(
                of: try input(),
                named: file,
                places: places.map { RuntimePaths.absolute($0) },
                rules: readRules(),
                clock: EventLoopClock.shared
            )
            let settings = LocationSettings(desiredAccuracy: accuracy ?? .best, distanceFilter: 0)
            if let expect {
                try await replay.compare(with: RuntimePaths.absolute(expect), settings: settings)
            } else {
                try await replay.print(isExplained: explain, asJSON: format == .json, settings: settings)
            }
        } catch let fault as PlaceFileFault {
            DaemonCommand.fail(fault.description, code: fault.kind == .unreadable(2) ? DaemonCommand.noSuchItem : 1)
        } catch let fault as TrackFault where fault.isMissing {
            DaemonCommand.fail(
                "\(fault); name a GPX file, or gpsd-log:FILE with gpsd's lines",
                code: DaemonCommand.noSuchItem
            )
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        } catch let error as any CustomStringConvertible & Error where error is TrackFault || error is ReplayFailure {
            DaemonCommand.fail(error.description)
        }
        Glibc.exit(0)
    }
}
