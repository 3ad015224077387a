import BackgrounderAPI
import FoundationEssentials
import LocationUpdates
import SystemSupport

/// One run of a source through the filter.
struct ReplayRun<Sink: ReplaySink> {
    var filter: LocationFilter
    var sink: Sink
    private(set) var counts = LocationCounts()
    /// Why the file could not be read to its end; `nil` if it could.
    private(set) var fault: TrackFault?
    private(set) var oddLines: OddLines?
    private let clock: any Clock<Duration>

    init(settings: LocationSettings, sink: Sink, clock: any Clock<Duration>) {
        self.clock = clock
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
                    try receive(.fix(point.fix), index: point.index, time: point.fix.time)
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
                    try receive(logged.report, index: index, time: fix.time)
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
                    try receive(report, index: counts.received, time: fix.time)
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
        try await clock.sleep(for: .seconds(seconds))
    }

    private mutating func receive(_ report: Report, index: Int, time: Date?) throws(OutputError) {
        let decision: Decision?
        var fix = ReplayedFix(index: index, time: time)
        if sink.wantsExplanations {
            let explained = filter.explain(report)
            decision = explained?.decision
            fix.explanation = explained?.explanation
        } else {
            decision = filter.receive(report, passed: &fix.passed)
        }
        guard let decision else { return }
        switch decision {
        case .accepted: counts.accepted += 1
        case .rejected(let rejection): counts.rejected[rejection.reason] += 1
        }
        try sink.receive(decision, fix)
    }
}
