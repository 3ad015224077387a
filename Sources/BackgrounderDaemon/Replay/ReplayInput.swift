import BackgrounderAPI
import FoundationEssentials
import LocationUpdates

/// The input of `track replay`.
enum ReplayInput: Sendable {
    case gpx(path: String, rate: ReplayRate)
    case log(path: String, rate: ReplayRate)
    case live(GPSDAddress)

    /// Parses a location source or the path of a GPX file.
    ///
    /// - Parameter rate: overrides the rate of the source; without either, a file is read as fast as possible.
    /// - Throws: ``LocationSourceError``.
    init(_ argument: String, rate: ReplayRate?) throws(LocationSourceError) {
        let isSource = ["gpx:", "gpsd-log:", "gpsd://"].contains { argument.hasPrefix($0) }
        guard isSource else {
            self = .gpx(path: RuntimePaths.absolute(argument), rate: rate ?? .max)
            return
        }
        let source = try LocationSource(argument, relativeTo: RuntimePaths.absolute("."))
        func chosen(_ own: ReplayRate) -> ReplayRate { rate ?? (argument.contains("?rate=") ? own : .max) }
        self =
            switch source {
            case .gpsd(let address): .live(address)
            case .gpx(let path, let own): .gpx(path: RuntimePaths.absolute(path), rate: chosen(own))
            case .gpsdLog(let path, let own): .log(path: RuntimePaths.absolute(path), rate: chosen(own))
            }
    }

    var isLive: Bool {
        if case .live = self { true } else { false }
    }
}

/// A receiver of the decisions of a replay, in order.
protocol ReplaySink {
    /// Whether ``take(_:_:)`` needs the figures of each decision.
    var wantsExplanations: Bool { get }

    /// Processes a decision.
    mutating func take(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError)
    /// Called when nothing follows for a while, to flush output.
    mutating func pause() throws(OutputError)
    /// Called at the end.
    mutating func end() throws(OutputError)
}

/// The fix of a decision.
struct ReplayedFix {
    /// The 0-based number of the point in the file, or of gpsd's fix.
    var index: Int
    var time: Date?
    var explanation: Explanation?
}

/// One run of a source through the filter.
struct ReplayRun<Sink: ReplaySink> {
    var filter: LocationFilter
    var sink: Sink
    private(set) var counts = LocationCounts()
    /// Why the file could not be read to its end; `nil` if it could.
    private(set) var fault: TrackFault?
    private(set) var oddLines: OddLines?

    init(settings: LocationSettings, sink: Sink) {
        filter = LocationFilter(settings: settings)
        self.sink = sink
    }

    /// Reads a GPX file to its end or its damage.
    ///
    /// - Throws: ``TrackFault`` if the file cannot be opened.
    mutating func read(gpx path: String, rate: ReplayRate) async throws {
        let reader = try GPXReader(path: path, start: Date())
        var pace = ReplayPace(rate: rate)
        do {
            while let points = try reader.next() {
                for point in points {
                    try await wait(pace.delay(before: point.fix.time))
                    try take(.fix(point.fix), index: point.index, time: point.fix.time)
                }
            }
        } catch let damage as TrackFault {
            fault = damage
        }
    }

    /// Like ``read(gpx:rate:)``, for a gpsd log.
    mutating func read(log path: String, rate: ReplayRate) async throws {
        let reader = try GPSDLogReader(path: path)
        var pace = ReplayPace(rate: rate)
        do {
            while let reports = try reader.next() {
                for logged in reports {
                    guard let index = logged.index, case .fix(let fix) = logged.report else {
                        _ = filter.receive(logged.report)
                        continue
                    }
                    try await wait(pace.delay(before: Date(timeIntervalSinceReferenceDate: logged.instant)))
                    try take(logged.report, index: index, time: fix.time)
                }
            }
        } catch let damage as TrackFault {
            fault = damage
        }
        oddLines = reader.oddLines
    }

    /// Reads a live source until it is stopped, and passes messages other than reports to `onNews`.
    mutating func read(live feed: GPSDFeed, onNews: (SourceItem) -> Void) async throws {
        for await items in feed.batches {
            for item in items {
                guard case .report(let report) = item else {
                    onNews(item)
                    continue
                }
                if case .fix(let fix) = report {
                    try take(report, index: counts.received, time: fix.time)
                } else {
                    _ = filter.receive(report)
                }
            }
            feed.acknowledge()
            try sink.pause()
        }
    }

    private mutating func wait(_ seconds: Double) async throws {
        guard seconds > 0 else { return }
        try sink.pause()
        try await EventLoopClock.shared.sleep(for: .seconds(seconds))
    }

    private mutating func take(_ report: Report, index: Int, time: Date?) throws(OutputError) {
        let decision: Decision?
        var fix = ReplayedFix(index: index, time: time)
        if sink.wantsExplanations {
            let explained = filter.explain(report)
            decision = explained?.decision
            fix.explanation = explained?.explanation
        } else {
            decision = filter.receive(report)
        }
        guard let decision else { return }
        switch decision {
        case .accepted: counts.accepted += 1
        case .rejected(let rejection): counts.rejected[rejection.reason] += 1
        }
        try sink.take(decision, fix)
    }
}
