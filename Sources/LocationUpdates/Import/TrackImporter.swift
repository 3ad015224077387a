package import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// Reads a GPX file for the history in batches; the caller sets the pace.
///
/// Runs on a queue of its own, where it may wait for the disk. Points without a time are `invalid` because a history needs
/// times.
///
///     let importer = try await TrackImporter.open("/home/me/old.gpx", selection: .filtered(LocationSettings()))
///     while let batch = await importer.next() { try await store(batch) }
package actor TrackImporter {
    /// Which points are imported.
    package enum Selection: Sendable {
        /// Every valid point except immediate repetitions.
        case raw
        /// The points that the filter accepts.
        case filtered(LocationSettings)
    }

    /// The result of reading a part of the file.
    package struct Batch: Sendable {
        package var received = 0
        package var accepted: [Location] = []
        package var rejected = RejectionCounts()
        /// The trips that the accepted points changed.
        package var trips: [TripRecord] = []
        /// How many of the newest accepted points can still become part of a trip that changes.
        package var openPoints = 0
        /// Why this batch is the last one; `nil` if there are more, and at the end of an intact file.
        package var fault: String?
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let executor: QueueExecutor
    private let path: String
    private let reader: GPXReader
    private var filter: LocationFilter?
    private var recorder = TripRecorder()
    private var lastRaw: Waypoint?
    /// Whether the next raw point that is accepted opens a segment. The first point of a segment may be rejected.
    private var opensSegment = false
    private var received = 0
    private var hasTime = false
    private var isAtEnd = false
    /// The least number of accepted points in a batch, unless the file ends.
    ///
    /// Tuned: stored in about 20 ms, for which live points may have to wait.
    private static let batchSize = 1000

    /// Opens `path`, which is absolute. Only the caller waits for the disk.
    ///
    /// - Throws: ``TrackFault`` if the file cannot be opened or is not a regular file.
    package static func open(_ path: String, selection: Selection) async throws(TrackFault) -> TrackImporter {
        let executor = QueueExecutor("backgrounder.import")
        return try await executor.run { () throws(TrackFault) in
            try TrackImporter(path: path, selection: selection, executor: executor)
        }
    }

    private init(path: String, selection: Selection, executor: QueueExecutor) throws(TrackFault) {
        self.executor = executor
        self.path = path
        reader = try GPXReader(path: path, start: nil)
        switch selection {
        case .raw: filter = nil
        case .filtered(let settings): filter = LocationFilter(settings: settings)
        }
    }

    /// Returns the next points of the file, or `nil` after the last batch. If the task is cancelled, it returns what it has.
    package func next() -> Batch? {
        guard !isAtEnd else { return nil }
        var batch = Batch()
        do throws(TrackFault) {
            while !isAtEnd, !Task.isCancelled, batch.accepted.count < Self.batchSize,
                batch.received < 10 * Self.batchSize
            {
                guard let points = try reader.next() else {
                    isAtEnd = true
                    break
                }
                for point in points { receive(point.fix, into: &batch) }
            }
        } catch {
            isAtEnd = true
            batch.fault = error.description
        }
        if isAtEnd {
            recorder.finish()
            batch.fault = batch.fault ?? wholeFault
        }
        batch.trips = recorder.takeChanges()
        batch.openPoints = recorder.openPoints
        return batch
    }

    /// The fault of a file that was read to its end but cannot be imported.
    private var wholeFault: String? {
        if received == 0 { return "\(path) has no track points (trkpt); name a GPX file with a recorded track" }
        return hasTime ? nil : "\(path) has no times, which a history needs; name a recorded track"
    }

    private func receive(_ fix: Fix, into batch: inout Batch) {
        received += 1
        batch.received += 1
        if fix.time != nil { hasTime = true }
        switch filter?.receive(.fix(fix)) ?? receiveRaw(fix) {
        case .accepted(let location):
            recorder.receive(location)
            batch.accepted.append(location)
        case .rejected(let rejection):
            batch.rejected[rejection.reason] += 1
        }
    }

    private func receiveRaw(_ fix: Fix) -> Decision {
        if fix.opensSegment { opensSegment = true }
        guard fix.mode >= 2 else { return .rejected(Rejection(reason: .noFix, timestamp: fix.time)) }
        guard fix.mode <= 3, let waypoint = Waypoint(fix) else {
            return .rejected(Rejection(reason: .invalid, timestamp: fix.time))
        }
        if let lastRaw, lastRaw.time == waypoint.time, lastRaw.place == waypoint.place {
            return .rejected(Rejection(reason: .duplicate, timestamp: fix.time))
        }
        lastRaw = waypoint
        var estimate = AccuracyEvidence().estimate(fix)
        // An exported point is imported with its original source of accuracy.
        if estimate?.source == .file, let source = fix.statedSource { estimate?.source = source }
        defer { opensSegment = false }
        return .accepted(Location(fix, waypoint, estimate, isSegmentStart: opensSegment))
    }
}
