import BackgrounderAPI
import FoundationEssentials
import LocationUpdates

/// What `track replay` reads.
enum ReplayInput: Sendable {
    case gpx(path: String, rate: ReplayRate)
    case log(path: String, rate: ReplayRate)
    case live(GPSDAddress)

    /// A source as the configuration has it, or the path of a GPX file. `rate` wins over the source's own, and a file is read
    /// as fast as possible where neither says anything.
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

/// Takes what became of each fix of a replay, in order.
protocol ReplaySink {
    /// Whether ``take(_:_:)`` is to be given the numbers behind each decision.
    var wantsExplanations: Bool { get }

    mutating func take(_ decision: Decision, _ fix: ReplayedFix) throws(OutputError)
    /// Nothing comes for a while.
    mutating func pause() throws(OutputError)
    mutating func end() throws(OutputError)
}

/// Which fix was decided on.
struct ReplayedFix {
    /// Counts the file's points or gpsd's fixes, from 0 on.
    var index: Int
    var time: Date?
    var explanation: Explanation?
}

/// One run of a source through the filter.
struct ReplayRun<Sink: ReplaySink> {
    var filter: LocationFilter
    var sink: Sink
    private(set) var counts = LocationCounts()
    /// Why the file could not be read to its end.
    private(set) var fault: TrackFault?
    private(set) var oddLines: OddLines?

    init(settings: LocationSettings, sink: Sink) {
        filter = LocationFilter(settings: settings)
        self.sink = sink
    }

    /// Reads a file to its end or its damage; what cannot be opened at all throws a ``TrackFault``.
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

    /// As ``read(gpx:rate:)``, of gpsd's lines.
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

    /// Takes what a live source brings until it is stopped; `onNews` is told what else there is to say.
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
