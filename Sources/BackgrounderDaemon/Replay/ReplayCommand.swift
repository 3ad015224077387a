import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import Glibc
import LocationUpdates

/// `backgrounderd replay FILE`: a recording through the filter, without a service and without its configuration.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run a recording through the filter and print what is accepted; a summary goes to stderr.",
        discussion: """
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

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, geojson, gpx, kml, csv, expected
    }

    @Argument(
        help: ArgumentHelp(
            "A GPX 1.0 or 1.1 file, gpsd-log:FILE with gpsd's JSON lines, or gpsd://host[:port] for a live one.",
            valueName: "file"
        )
    )
    var file: String

    @Option(
        help: ArgumentHelp(
            "N times as fast as it was recorded, or max: as fast as possible (the default).",
            valueName: "n|max"
        ),
        transform: ReplayRate.parse
    )
    var rate: ReplayRate?

    @Option(
        help: ArgumentHelp(
            "One of \(DesiredAccuracy.allCases.map(\.rawValue).joined(separator: ", ")); best unless given.",
            valueName: "level"
        )
    )
    var accuracy: DesiredAccuracy?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Metres between points; 0 or none takes every fix.", valueName: "metres"),
        transform: MetresArgument.parse
    )
    var filter: MetresArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The largest accuracy that is taken, in metres, or none.", valueName: "metres"),
        transform: MetresArgument.parse
    )
    var maximum: MetresArgument?

    @Flag(name: .customLong("no-jitter-guard"), help: "Take a distance that the errors explain for movement.")
    var noJitterGuard = false

    @Flag(help: "Print what is not accepted, with the reason, instead.")
    var rejected = false

    @Flag(help: "Print every fix with its accuracy, the limit, the distance and what was decided, instead.")
    var explain = false

    @Option(
        help: ArgumentHelp(
            "Hold the runs of this file, with their settings, against the replay; exit 1 where they differ.",
            valueName: "file.expected.json"
        )
    )
    var expect: String?

    @Option(
        name: .customLong("record"),
        help: ArgumentHelp("Write what a live gpsd says to this new file.", valueName: "file")
    )
    var ownRecord: String?

    /// The service has an option of the same name, which takes it first.
    @ParentCommand var service: DaemonCommand
    private var record: String? { ownRecord ?? service.record }

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("End a live one after this time.", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var span: DurationArgument?

    @Option(help: "table, json, geojson, gpx, kml, csv, or expected: a file for --expect.")
    var format: Format?

    func validate() throws {
        if rejected, explain { throw ValidationError("--rejected and --explain are two outputs: give one of them") }
        for (option, isGiven) in [("--rejected", rejected), ("--explain", explain)] where isGiven {
            guard let format, ![.table, .json].contains(format) else { continue }
            throw ValidationError("\(option) prints table or json, not \(format.rawValue)")
        }
        if maximum?.metres == 0 { throw ValidationError("--maximum 0 takes nothing: give metres above 0, or none") }
        if expect != nil, let option = givenBesideExpect {
            throw ValidationError("--expect takes its settings and its output from its file: leave \(option) out")
        }
        guard try input().isLive else {
            if record != nil { throw ValidationError("--record writes what a live gpsd says: give gpsd://HOST[:PORT]") }
            if span != nil { throw ValidationError("--for ends a live gpsd: a file ends by itself") }
            return
        }
        if rate != nil { throw ValidationError("--rate is for a file: a live gpsd has its own pace") }
        if expect != nil { throw ValidationError("--expect needs a file: record the live gpsd first, with --record") }
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
            let input = try input()
            if let expect {
                try await check(input, ExpectedRuns(path: RuntimePaths.absolute(expect)))
            } else {
                try await replay(input)
            }
        } catch let fault as TrackFault where fault.isMissing {
            DaemonCommand.fail(
                "\(fault); give a GPX file, or gpsd-log:FILE with gpsd's lines",
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
        error is TrackFault || error is ExpectationError || error is RecordingError
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

    private func replay(_ input: ReplayInput) async throws {
        if explain {
            try await replay(input, into: ExplanationPrinter(format: format ?? .table))
        } else if format == .expected {
            let name = file.split(separator: "/").last.map(String.init) ?? file
            try await replay(input, into: ExpectationPrinter(track: name, settings: settings))
        } else {
            try await replay(input, into: ReplayPrinter(format: format ?? .table, showsRejected: rejected))
        }
    }

    private func replay(_ input: ReplayInput, into sink: some ReplaySink) async throws {
        var run = ReplayRun(settings: settings, sink: sink)
        switch input {
        case .gpx(let path, let rate): try await run.read(gpx: path, rate: rate)
        case .log(let path, let rate): try await run.read(log: path, rate: rate)
        case .live(let address):
            let live = LiveReplay(address: address, record: record, span: span?.duration)
            let obstacle = try await live.read(into: &run)
            if run.counts.received == 0 {
                try run.sink.end()
                let reason = obstacle.map { ": \($0)" } ?? ""
                DaemonCommand.fail("no fix came from \(address)\(reason); is a receiver connected to it?")
            }
        }
        if !input.isLive { failIfEmpty(run) }
        try run.sink.end()
        if let odd = run.oddLines { Self.say("\(odd)") }
        // Where nothing was received the fault says it all.
        if run.counts.received > 0 { Self.say(run.counts.summary) }
        if let fault = run.fault { throw fault }
    }

    /// Ends with one line where `run` brought nothing to judge.
    private func failIfEmpty<Sink>(_ run: ReplayRun<Sink>) {
        guard run.counts.received == 0, run.fault == nil else { return }
        if file.hasPrefix("gpsd-log:") {
            let odd = run.oddLines.map { " (lines that are none of gpsd's: \($0.count))" } ?? ""
            DaemonCommand.fail("\(file) has no fix of gpsd (TPV)\(odd); give what --record or `gpspipe -w` wrote")
        }
        DaemonCommand.fail("\(file) has no track points (trkpt); give a GPX file with a recorded track")
    }

    /// Replays `input` once for each run; does not return where one differs.
    private func check(_ input: ReplayInput, _ expected: ExpectedRuns) async throws {
        var different = 0
        for (number, wanted) in expected.runs.enumerated() {
            var run = ReplayRun(settings: LocationSettings(wanted.settings), sink: ExpectationCheck(wanted))
            switch input {
            case .gpx(let path, _): try await run.read(gpx: path, rate: .max)
            case .log(let path, _): try await run.read(log: path, rate: .max)
            case .live: return
            }
            // What comes before damage is held against the file as well: that it stays so can be the very thing to test.
            if number == 0 {
                if run.counts.received == 0, let fault = run.fault { throw fault }
                failIfEmpty(run)
                if let fault = run.fault { Self.say("\(fault)") }
                if let odd = run.oddLines { Self.say("\(odd)") }
            }
            run.sink.end()
            if run.sink.differenceCount > 0 { different += 1 }
            try StandardOutput.write(run.sink.report(number: number + 1, of: expected.runs.count))
        }
        guard different > 0 else { return }
        DaemonCommand.fail(
            "\(file): \(different) of \(expected.runs.count) runs are not as expected; `--explain` shows every fix"
        )
    }

    /// A line on stderr.
    static func say(_ text: String) {
        _ = (text.withoutControlCharacters + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}

extension LocationCounts {
    /// `72 received, 38 accepted, 34 rejected (noFix 2, …)`.
    fileprivate var summary: String {
        let reasons = RejectionReason.allCases.filter { rejected[$0] > 0 }.map { "\($0.rawValue) \(rejected[$0])" }
        let rest = reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))"
        return "\(received) received, \(accepted) accepted, \(rejected.total) rejected\(rest)"
    }
}
