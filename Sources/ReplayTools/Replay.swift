import BackgrounderAPI
package import LocationUpdates
import SystemSupport

/// The format of a replay's output.
package enum ReplayFormat: String, CaseIterable, Sendable {
    case table, json, geojson, gpx, kml, csv
    /// A document that a later replay can be compared with; see ``ExpectedRuns``.
    case expected
}

/// Runs a recording through the filter, without a service and its configuration.
///
/// The result goes to stdout; the summary, and lines that gpsd did not write, go to stderr.
package struct Replay: Sendable {
    /// The decisions that are printed.
    package enum Content: Sendable {
        case accepted
        case rejected
        /// Every fix with the filter's figures.
        case explained
    }

    private let input: ReplayInput
    /// The input as the user named it.
    private let name: String
    private let clock: any Clock<Duration>

    /// Creates a replay of `input`, which messages call `name`. `clock` paces replays in real time.
    package init(of input: ReplayInput, named name: String, clock: any Clock<Duration>) {
        self.input = input
        self.name = name
        self.clock = clock
    }

    /// Prints the decisions of the filter.
    ///
    /// - Parameters:
    ///   - format: table or json for `rejected` and `explained`; `expected` only for `accepted`.
    ///   - record: the path of a new file for what a live gpsd sends.
    ///   - span: the time after which reading a live gpsd ends; `nil` to read until SIGINT or SIGTERM.
    /// - Throws: ``ReplayFailure``, ``TrackFault``, ``RecordingError``, ``SourceRefused``, or ``OutputError`` if stdout cannot
    ///   be written.
    package func print(
        _ content: Content,
        as format: ReplayFormat,
        settings: LocationSettings,
        record: String? = nil,
        span: Duration? = nil
    ) async throws {
        let live = LiveOptions(record: record, span: span)
        switch content {
        case .explained: try await run(ExplanationPrinter(format: format), settings, live)
        case .accepted where format == .expected:
            let track = name.split(separator: "/").last.map(String.init) ?? name
            try await run(ExpectationPrinter(track: track, settings: settings), settings, live)
        case .accepted: try await run(ReplayPrinter(format: format, showsRejected: false), settings, live)
        case .rejected: try await run(ReplayPrinter(format: format, showsRejected: true), settings, live)
        }
    }

    /// Replays the file once for each run of `expected`, and prints the differences.
    ///
    /// - Throws: ``ReplayFailure`` if a run differs, and the errors of ``print(_:as:settings:record:span:)``.
    package func compare(with expected: ExpectedRuns) async throws {
        var different = 0
        for (number, wanted) in expected.runs.enumerated() {
            var run = makeRun(ExpectationCheck(wanted), LocationSettings(wanted.settings))
            switch input {
            case .gpx(let path, _): try await run.read(gpx: path, rate: .max)
            case .log(let path, _): try await run.read(log: path, rate: .max)
            case .live: return
            }
            // The points before damage are compared as well: their number can be what is tested.
            if number == 0 {
                if run.counts.received == 0, let fault = run.fault { throw fault }
                try requireFixes(in: run)
                if let fault = run.fault { StandardError.writeLine("\(fault)") }
                if let odd = run.oddLines { StandardError.writeLine("\(odd)") }
            }
            run.sink.end()
            if run.sink.differenceCount > 0 { different += 1 }
            try StandardOutput.write(run.sink.report(number: number + 1, of: expected.runs.count))
        }
        guard different > 0 else { return }
        throw ReplayFailure("\(name): \(different) of \(expected.runs.count) runs differ; `--explain` shows every fix")
    }

    /// The options that only a live gpsd has.
    struct LiveOptions {
        var record: String?
        var span: Duration?
    }

    private func makeRun<Sink>(_ sink: Sink, _ settings: LocationSettings) -> ReplayRun<Sink> {
        ReplayRun(settings: settings, sink: sink, clock: clock)
    }

    /// Reads the input to its end, and prints what `sink` makes of it, and the summary.
    func run(_ sink: some ReplaySink, _ settings: LocationSettings, _ options: LiveOptions = LiveOptions()) async throws
    {
        var run = makeRun(sink, settings)
        switch input {
        case .gpx(let path, let rate): try await run.read(gpx: path, rate: rate)
        case .log(let path, let rate): try await run.read(log: path, rate: rate)
        case .live(let address):
            let live = LiveReplay(address: address, record: options.record, span: options.span, clock: clock)
            let obstacle = try await live.read(into: &run)
            if run.counts.received == 0 {
                try run.sink.end()
                let reason = obstacle.map { ": \($0)" } ?? ""
                throw ReplayFailure("no fix arrived from \(address)\(reason); check that a receiver is connected")
            }
        }
        if !input.isLive { try requireFixes(in: run) }
        try run.sink.end()
        if let failure = run.sink.failure { throw ReplayFailure(failure) }
        if let odd = run.oddLines { StandardError.writeLine("\(odd)") }
        // If nothing was received, the fault is enough.
        if run.counts.received > 0 { StandardError.writeLine(run.counts.summary) }
        if let fault = run.fault { throw fault }
    }

    private func requireFixes<Sink>(in run: ReplayRun<Sink>) throws(ReplayFailure) {
        guard run.counts.received == 0, run.fault == nil else { return }
        if case .log = input {
            let odd = run.oddLines.map { " (\(counted($0.count, "line")) not from gpsd)" } ?? ""
            throw ReplayFailure("\(name) has no fix (TPV)\(odd); name a file that --record or `gpspipe -w` wrote")
        }
        throw ReplayFailure("\(name) has no track points (trkpt); name a GPX file with a recorded track")
    }
}

/// The error for a replay without fixes, or with unexpected decisions, in one line.
package struct ReplayFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension LocationCounts {
    /// `72 received, 38 accepted, 34 rejected (noFix 2, …)`.
    fileprivate var summary: String {
        let reasons = RejectionReason.allCases.filter { rejected[$0] > 0 }.map { "\($0.rawValue) \(rejected[$0])" }
        let details = reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))"
        return "\(received) received, \(accepted) accepted, \(rejected.total) rejected\(details)"
    }
}
