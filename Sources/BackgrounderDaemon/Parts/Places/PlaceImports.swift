import BackgrounderAPI
import FoundationEssentials
import Glibc
import Logging
import Places
import StateStore
import SystemSupport

/// The files under `places.import`: each is read at the start and at a reload, if it has changed, as a source with its name.
struct PlaceImports {
    /// The facts by which a change of a file is noticed.
    private struct Version: Codable, Hashable {
        var path: String
        var size: Int64
        var inode: UInt64
        var seconds: Int64
        var nanoseconds: Int64
    }

    let store: StateStore
    /// Reads the files.
    let reader: QueueExecutor
    let logger: Logger

    private static let record = "places.imports"

    /// Returns the name of the source of a file.
    static func source(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// Stores the places of the files that have changed, and removes those of files that are not listed any more.
    ///
    /// A file that cannot be read, or has a fault, changes nothing; the log says why.
    ///
    /// - Returns: the ids of places that were removed or have another shape; `nil` if nothing changed.
    func update(_ paths: [String]) async throws -> [Int]? {
        let data = try store.state(Self.record)
        let stored = data.flatMap { try? JSONDecoder().decode([String: Version].self, from: $0) } ?? [:]
        var known = stored
        var reshaped: [Int] = []
        for path in paths {
            let source = Self.source(path)
            let version = Self.version(of: path)
            if let version, version == known[source] { continue }
            do {
                let places = try await reader.run { () throws(PlaceFileFault) in
                    try PlaceFile.bounded(path, source: source)
                }
                guard let result = try await store.store(places, of: source, replacing: true) else {
                    logger.error("Cannot import \(path): there would be more than \(StateStore.mostPlaces) places")
                    continue
                }
                reshaped += result.reshaped
                known[source] = version
                let counts = result.counts
                logger.info(
                    """
                    Imported \(path.withoutControlCharacters): \(counts.added) places added, \(counts.changed) changed, \
                    \(counts.removed) removed
                    """
                )
            } catch let fault as PlaceFileFault {
                logger.error("Cannot import \(fault); its places are as before")
            }
        }
        for source in known.keys where !paths.contains(where: { Self.source($0) == source }) {
            reshaped += try await store.store([], of: source, replacing: true)?.reshaped ?? []
            known[source] = nil
        }
        guard known != stored else { return nil }
        try await store.save(StateRecord(name: Self.record, value: try JSONEncoder().encode(known)), durable: true)
        return reshaped
    }

    private static func version(of path: String) -> Version? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return Version(
            path: path,
            size: Int64(facts.st_size),
            inode: UInt64(facts.st_ino),
            seconds: Int64(facts.st_mtim.tv_sec),
            nanoseconds: Int64(facts.st_mtim.tv_nsec)
        )
    }
}

extension PlaceFile {
    /// Reads the places of a file, each with a box that contains it.
    static func bounded(_ path: String, source: String) throws(PlaceFileFault) -> [StateStore.BoundedPlace] {
        try read(path, source: source, refusal: Shape.refusal).compactMap { place in
            // The reader refused the others.
            (try? Shape(place.shape)).map { (place, $0.bounds) }
        }
    }
}
