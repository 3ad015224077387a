import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates
import ReplayTools
import SystemSupport

/// `backgrounderd replay FILE`: runs a recording through the filter, without a service and its configuration.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a recording through the filter, without a service.",
        usage: DaemonCommand.isForCommand ? "backgrounder track replay <file> [<options>]" : nil,
        discussion: """
            Prints the accepted points, and a summary to stderr. Without options, the filter has its default settings; \
            the configuration is not read.

            EXAMPLES
              backgrounder track replay tracks/city-walk.gpx --filter 10
              backgrounder track replay tracks/bad-fixes.gpx --rejected --format json
              backgrounder track replay tracks/bad-fixes.gpx --explain
              backgrounder track replay drive.gpx --maximum 25 --format gpx > clean.gpx
              backgrounder track replay drive.gpx --format expected > drive.expected.json
              backgrounder track replay drive.gpx --expect drive.expected.json
              backgrounder track replay gpsd://localhost --record drive.jsonl --for 10m
              backgrounder track replay gpsd-log:drive.jsonl --filter 10
            """
    )

    @Argument(
        help: ArgumentHelp(
            "GPX 1.0 or 1.1 file, gpsd-log:FILE with gpsd's JSON lines, or gpsd://host[:port] for a live gpsd.",
            valueName: "file"
        )
    )
    var file: String

    @Option(
        help: ArgumentHelp(
            "Speed of the replay: N times real time, or max (default max).",
            valueName: "n|max"
        ),
        transform: ReplayRate.parse
    )
    var rate: ReplayRate?

    @Option(
        help: ArgumentHelp(
            "Accuracy level (default best).",
            valueName: "level"
        )
    )
    var accuracy: DesiredAccuracy?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Least distance between points, in metres, or none (default none).", valueName: "metres"),
        transform: MetresArgument.parse
    )
    var filter: MetresArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Largest position error to accept, in metres, or none (default none).", valueName: "metres"),
        transform: MetresArgument.parse
    )
    var maximum: MetresArgument?

    @Flag(name: .customLong("no-jitter-guard"), help: "Accept movement that is within the position error.")
    var noJitterGuard = false

    @Flag(help: "Print the rejected fixes with their reasons instead.")
    var rejected = false

    @Flag(help: "Print every fix with accuracy, limit, distance and decision instead.")
    var explain = false

    @Option(
        help: ArgumentHelp(
            "Compare the replay with the runs in this file, using their settings; exit 1 if they differ.",
            valueName: "file.expected.json"
        )
    )
    var expect: String?

    @Option(
        name: .customLong("record"),
        help: ArgumentHelp("Record what a live gpsd sends to this new file.", valueName: "file")
    )
    var ownRecord: String?

    /// The parent command has an option of the same name, which is parsed first.
    @ParentCommand var service: DaemonCommand
    private var record: String? { ownRecord ?? service.record }

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Stop reading a live gpsd after this time.", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var span: DurationArgument?

    @Option(help: "Output format; expected writes a file for --expect.")
    var format: ReplayFormat?

    func validate() throws {
        if rejected, explain { throw ValidationError("--rejected and --explain exclude each other; use one of them") }
        for (option, isGiven) in [("--rejected", rejected), ("--explain", explain)] where isGiven {
            guard let format, ![.table, .json].contains(format) else { continue }
            throw ValidationError("\(option) cannot print \(format.rawValue); use table or json")
        }
        if maximum?.metres == 0 { throw ValidationError("--maximum 0 rejects every fix; use metres above 0, or none") }
        if expect != nil, let option = givenBesideExpect {
            throw ValidationError("--expect reads its settings from the file; omit \(option)")
        }
        guard try input().isLive else {
            if record != nil { throw ValidationError("--record needs a live gpsd; use gpsd://HOST[:PORT]") }
            if span != nil { throw ValidationError("--for needs a live gpsd; use gpsd://HOST[:PORT], or omit --for") }
            return
        }
        if rate != nil { throw ValidationError("--rate needs a file; omit it for a live gpsd") }
        if expect != nil { throw ValidationError("--expect needs a file; record the live gpsd first with --record") }
    }

    private func input() throws(ValidationError) -> ReplayInput {
        do {
            return try ReplayInput(file, rate: rate)
        } catch {
            throw ValidationError(error.description)
        }
    }

    private var givenBesideExpect: String? {
        let options: [(String, Bool)] = [
            ("--accuracy", accuracy != nil), ("--filter", filter != nil), ("--maximum", maximum != nil),
            ("--no-jitter-guard", noJitterGuard), ("--rejected", rejected), ("--explain", explain),
            ("--format", format != nil), ("--rate", rate != nil),
        ]
        return options.first { $0.1 }?.0
    }

    func run() async throws {
        do {
            let replay = Replay(of: try input(), named: file, clock: EventLoopClock.shared)
            if let expect {
                try await replay.compare(with: ExpectedRuns(path: RuntimePaths.absolute(expect)))
            } else {
                try await replay.print(
                    explain ? .explained : rejected ? .rejected : .accepted,
                    as: format ?? .table,
                    settings: settings,
                    record: record,
                    span: span?.duration
                )
            }
        } catch let fault as TrackFault where fault.isMissing {
            DaemonCommand.fail(
                "\(fault); name a GPX file, or gpsd-log:FILE with gpsd's lines",
                code: DaemonCommand.noSuchItem
            )
        } catch let error as ExpectationError where error.isMissing {
            DaemonCommand.fail(error.description, code: DaemonCommand.noSuchItem)
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        } catch let error as any CustomStringConvertible & Error where Self.isOurs(error) {
            DaemonCommand.fail(error.description)
        }
        Glibc.exit(0)
    }

    private static func isOurs(_ error: any Error) -> Bool {
        error is TrackFault || error is ExpectationError || error is RecordingError || error is ReplayFailure
            || error is SourceRefused
    }

    private var settings: LocationSettings {
        LocationSettings(
            desiredAccuracy: accuracy ?? .best,
            distanceFilter: filter?.metres ?? 0,
            maximumAccuracy: maximum?.metres,
            jitterGuard: !noJitterGuard
        )
    }
}
