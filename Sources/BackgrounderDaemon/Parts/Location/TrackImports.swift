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

    /// Imports a file; the reader of the returned progress sets the pace.
    ///
    /// - Throws: ``WireError`` before anything of the file is stored.
    func begin(_ request: ImportRequest) async throws(WireError) -> AsyncThrowingStream<ImportProgress, any Error> {
        let importer = try await open(request)
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else {
            throw WireError(.conflict, "another import is running", hint: "try again when it has finished")
        }
        // The next import may begin when this one is released, which also happens when its client disconnects.
        let job = TrackImport(importer, store) { [self] in isBusy.withLock { $0 = false } }
        return AsyncThrowingStream { await job.next() }
    }

    private func open(_ request: ImportRequest) async throws(WireError) -> TrackImporter {
        guard request.path.hasPrefix("/") else {
            throw WireError(.invalid, "\(request.path) is not an absolute path", hint: "use a path that begins with /")
        }
        do {
            return try await TrackImporter.open(request.path, selection: try Self.selection(request))
        } catch let fault as TrackFault {
            let code: WireError.Code = fault.kind == .unreadable(2) ? .notFound : .invalid
            throw WireError(code, fault.description, hint: "name a GPX file that the service can read")
        } catch {
            throw (error as? WireError) ?? WireError(.invalid, "\(error)")
        }
    }

    private static func selection(_ request: ImportRequest) throws(WireError) -> TrackImporter.Selection {
        if request.raw == true {
            guard request.desiredAccuracy == nil, request.distanceFilter == nil, request.maximumAccuracy == nil,
                request.jitterGuard == nil
            else {
                throw WireError(.invalid, "raw imports every valid point", hint: "omit the filter settings")
            }
            return .raw
        }
        if let metres = request.distanceFilter, !(0...Double(Metres.maximum)).contains(metres) {
            throw WireError(
                .invalid,
                "distanceFilter \(metres) is out of range",
                hint: "use \(Keys.distanceFilter.allowed)"
            )
        }
        if let metres = request.maximumAccuracy, !(metres > 0 && metres <= Double(Metres.maximum)) {
            throw WireError(
                .invalid,
                "maximumAccuracy \(metres) is out of range",
                hint: "use \(Keys.maximumAccuracy.allowed)"
            )
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

/// An import in progress.
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

    /// Stores the next points of the file and returns the progress; `nil` after the last report.
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
            progress.fault = "cannot write the history: \(error); free some space and import again"
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
