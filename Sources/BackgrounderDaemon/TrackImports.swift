import BackgrounderAPI
import LocationUpdates
import StateStore
import Synchronization

/// Imports of track files into the history, one at a time.
final class TrackImports: Sendable {
    private let store: StateStore
    private let isBusy = Mutex(false)

    init(store: StateStore) {
        self.store = store
    }

    /// Imports a file as far as the progress is taken.
    ///
    /// - Throws: ``WireError`` before anything of the file was stored.
    func begin(_ request: ImportRequest) async throws(WireError) -> AsyncThrowingStream<ImportProgress, any Error> {
        let importer = try await open(request)
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else {
            throw WireError(.conflict, "another import is under way", hint: "try again when it is done")
        }
        // The next may begin when this one is let go, which is also how a client that left ends it.
        let job = TrackImport(importer, store) { [self] in isBusy.withLock { $0 = false } }
        return AsyncThrowingStream { await job.next() }
    }

    private func open(_ request: ImportRequest) async throws(WireError) -> TrackImporter {
        guard request.path.hasPrefix("/") else {
            throw WireError(.invalid, "\(request.path) is no absolute path", hint: "give the path from / on")
        }
        do {
            return try await TrackImporter.open(request.path, selection: try Self.selection(request))
        } catch let fault as TrackFault {
            let code: WireError.Code = fault.kind == .unreadable(2) ? .notFound : .invalid
            throw WireError(code, fault.description, hint: "give a GPX file that the service may read")
        } catch {
            throw (error as? WireError) ?? WireError(.invalid, "\(error)")
        }
    }

    private static func selection(_ request: ImportRequest) throws(WireError) -> TrackImporter.Selection {
        if request.raw == true {
            guard request.desiredAccuracy == nil, request.distanceFilter == nil, request.maximumAccuracy == nil,
                request.jitterGuard == nil
            else {
                throw WireError(.invalid, "raw takes every valid point", hint: "leave the settings of the filter away")
            }
            return .raw
        }
        if let metres = request.distanceFilter, !(0...Double(Metres.maximum)).contains(metres) {
            throw WireError(.invalid, "distanceFilter \(metres) is no length", hint: Keys.distanceFilter.allowed)
        }
        if let metres = request.maximumAccuracy, !(metres > 0 && metres <= Double(Metres.maximum)) {
            throw WireError(.invalid, "maximumAccuracy \(metres) is no length", hint: Keys.maximumAccuracy.allowed)
        }
        return .filtered(
            LocationSettings(
                desiredAccuracy: request.desiredAccuracy ?? .best,
                distanceFilter: request.distanceFilter ?? 0,
                maximumAccuracy: request.maximumAccuracy,
                jitterGuard: request.jitterGuard ?? true
            )
        )
    }
}

/// One import that is under way.
private actor TrackImport {
    private let importer: TrackImporter
    private let store: StateStore
    private let onEnd: @Sendable () -> Void
    private var session = ImportSession()
    private var progress = ImportProgress()

    init(_ importer: TrackImporter, _ store: StateStore, onEnd: @escaping @Sendable () -> Void) {
        (self.importer, self.store, self.onEnd) = (importer, store, onEnd)
    }

    deinit { onEnd() }

    /// Stores the next points of the file; `nil` after the last word.
    func next() async -> ImportProgress? {
        guard !progress.finished else { return nil }
        guard let batch = await importer.next() else {
            progress.finished = true
            return progress
        }
        do {
            session = try await store.importPoints(
                batch.accepted,
                trips: batch.trips,
                openPoints: batch.openPoints,
                into: session
            )
        } catch {
            progress.fault = "the history cannot be written: \(error); make room, and import again"
            progress.finished = true
            return progress
        }
        progress.received += batch.received
        for reason in RejectionReason.allCases { progress.rejected[reason] += batch.rejected[reason] }
        (progress.stored, progress.known, progress.trips) = (session.stored, session.known, session.trips)
        progress.fault = batch.fault
        progress.finished = batch.fault != nil
        return progress
    }
}
