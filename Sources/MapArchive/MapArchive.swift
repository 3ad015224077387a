package import BackgrounderAPI
package import FoundationEssentials
import GRDB
import Glibc
import SystemSupport

/// A map in an MBTiles file: images of 256 pixels, numbered by zoom level, column and row
/// (https://github.com/mapbox/mbtiles-spec, version 1.3).
///
/// The file is opened at the first use, and again when another one has replaced it. It is foreign: the database is only read, and its
/// views may not call functions with side effects.
package actor MapArchive {
    /// A file that can be told from its successor.
    private struct Identity: Equatable {
        var inode: ino_t
        var size: off_t
        var seconds: Int
        var nanoseconds: Int

        init?(_ path: String) {
            var file = stat()
            guard stat(path, &file) == 0 else { return nil }
            (inode, size) = (file.st_ino, file.st_size)
            (seconds, nanoseconds) = (file.st_mtim.tv_sec, file.st_mtim.tv_nsec)
        }
    }

    private enum State {
        case unread
        case usable(Identity, DatabaseQueue, MapArchiveDescription)
        /// `nil` if there is no file.
        case unusable(Identity?)
    }

    /// Tuned: larger images are not those of a map.
    private static let mostBytes = 4 << 20
    private static let formats: Set = ["png", "jpg", "jpeg", "webp"]

    private let executor = QueueExecutor("backgrounder.map")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private let onFault: @Sendable (MapArchiveFault) -> Void
    private var state = State.unread

    /// Creates an archive of the file at `path`, which may be missing.
    ///
    /// - Parameter onFault: called once for each file that cannot be used, on no particular thread.
    package init(path: String, onFault: @escaping @Sendable (MapArchiveFault) -> Void) {
        (self.path, self.onFault) = (path, onFault)
    }

    /// The extent of the map; `nil` if the file cannot be used.
    package var description: MapArchiveDescription? { opened()?.description }

    /// Returns the image in a column and a row, which is counted from the north; `nil` if there is none.
    package func image(zoom: Int, column: Int, row: Int) -> Data? {
        // The file counts rows from the south.
        guard (0...30).contains(zoom), (0..<1 << zoom).contains(column), (0..<1 << zoom).contains(row),
            let (database, _) = opened()
        else { return nil }
        do {
            return try database.read { database in
                try Data.fetchOne(
                    database.cachedStatement(
                        sql: """
                            SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?
                            AND length(tile_data) BETWEEN 1 AND ?
                            """
                    ),
                    arguments: [zoom, column, (1 << zoom) - 1 - row, Self.mostBytes]
                )
            }
        } catch {
            fail(error)
            return nil
        }
    }

    private func opened() -> (database: DatabaseQueue, description: MapArchiveDescription)? {
        let identity = Identity(path)
        switch state {
        case .usable(identity, let database, let description): return (database, description)
        case .unusable(identity): return nil
        case .unread, .usable, .unusable: break
        }
        do {
            guard let identity else { throw MapArchiveFault(path: path, reason: "there is no such file") }
            var configuration = Configuration()
            configuration.readonly = true
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let description = try database.read { try Self.description($0, path) }
            state = .usable(identity, database, description)
            return (database, description)
        } catch {
            fail(error)
            return nil
        }
    }

    private func fail(_ error: any Error) {
        state = .unusable(Identity(path))
        switch error {
        case let fault as MapArchiveFault: onFault(fault)
        case let error as DatabaseError:
            onFault(MapArchiveFault(path: path, reason: "not a readable MBTiles file: \(error.message ?? "\(error)")"))
        default: onFault(MapArchiveFault(path: path, reason: "\(error)"))
        }
    }

    private static func description(_ database: Database, _ path: String) throws -> MapArchiveDescription {
        func value(_ name: String) throws -> String? {
            try String.fetchOne(
                database,
                sql: "SELECT CAST(value AS TEXT) FROM metadata WHERE name = ? AND length(value) < 10000",
                arguments: [name]
            )
        }
        let format = try value("format")?.lowercased() ?? "png"
        guard formats.contains(format) else {
            throw MapArchiveFault(path: path, reason: "it has \(format) tiles; use a map of png, jpg or webp images")
        }
        func level(_ name: String, _ function: String) throws -> Int {
            let stored = try value(name).flatMap { Int($0) }
            let level = try stored ?? Int.fetchOne(database, sql: "SELECT \(function)(zoom_level) FROM tiles")
            guard let level, (0...30).contains(level) else {
                throw MapArchiveFault(path: path, reason: "it has no valid \(name)")
            }
            return level
        }
        let levels = (try level("minzoom", "min"), try level("maxzoom", "max"))
        return MapArchiveDescription(
            minZoom: min(levels.0, levels.1),
            maxZoom: max(levels.0, levels.1),
            bounds: bounds(try value("bounds") ?? ""),
            attribution: try value("attribution").map(text).flatMap { $0.isEmpty ? nil : $0 }
        )
    }

    /// Parses `west,south,east,north`; the world if the text is not valid.
    private static func bounds(_ text: String) -> [Double] {
        let world = [-180, -MapArchiveDescription.mostLatitude, 180, MapArchiveDescription.mostLatitude]
        let values = text.split(separator: ",").compactMap { Double($0.trimmed) }
        guard values.count == 4, values.allSatisfy({ (-180...180).contains($0) }), values[0] < values[2],
            values[1] < values[3], values[1] >= -90, values[3] <= 90
        else { return world }
        return values
    }

    /// Returns HTML without its tags.
    private static func text(_ html: String) -> String {
        var text = ""
        var isInTag = false
        for character in html {
            switch character {
            case "<": isInTag = true
            case ">" where isInTag: isInTag = false
            default: if !isInTag { text.append(character) }
            }
        }
        return text.replacing("&copy;", with: "©").replacing("&amp;", with: "&").withoutControlCharacters
    }
}

/// Why a map cannot be used.
package struct MapArchiveFault: Error, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "cannot use the map \(path): \(reason)" }
}
