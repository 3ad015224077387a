import BackgrounderAPI
import Foundation
import GRDB
import MapArchive
import Synchronization
import TestSupport
import Testing

/// Maps in MBTiles files.
@Suite struct MapArchiveTests {
    private let scratch: ScratchDirectory
    private let path: String

    init() throws {
        scratch = try ScratchDirectory()
        path = scratch.file("city.mbtiles")
    }

    /// Creates a file with images in all four rows and columns of zoom level 2.
    private func write(_ metadata: [String: String], to name: String = "city.mbtiles", view: Bool = false) throws {
        let database = try DatabaseQueue(path: scratch.file(name))
        try database.write { database in
            try database.execute(sql: "CREATE TABLE metadata (name TEXT, value TEXT)")
            for (name, value) in metadata {
                try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
            }
            let table = view ? "images" : "tiles"
            try database.execute(
                sql: """
                    CREATE TABLE \(table) (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)
                    """
            )
            if view { try database.execute(sql: "CREATE VIEW tiles AS SELECT * FROM images") }
            for column in 0..<4 {
                for row in 0..<4 {
                    let image = Data("column \(column), row \(row) from the south".utf8)
                    try database.execute(
                        sql: "INSERT INTO \(table) VALUES (2, ?, ?, ?)",
                        arguments: [column, row, image]
                    )
                }
            }
        }
        try database.close()
    }

    private func archive() -> (map: MapArchive, faults: @Sendable () -> [String]) {
        let faults = FaultList()
        return (MapArchive(path: path) { faults.add("\($0)") }, { faults.all })
    }

    private final class FaultList: Sendable {
        private let faults = Mutex<[String]>([])
        var all: [String] { faults.withLock { $0 } }
        func add(_ fault: String) { faults.withLock { $0.append(fault) } }
    }

    @Test(arguments: [false, true])
    func `images are numbered from the northwest`(view: Bool) async throws {
        try write(["format": "png"], view: view)
        let (map, faults) = archive()
        let image = await map.image(zoom: 2, column: 3, row: 0)
        #expect(image == Data("column 3, row 3 from the south".utf8))
        #expect(await map.image(zoom: 2, column: 0, row: 3) == Data("column 0, row 0 from the south".utf8))
        for (zoom, column, row) in [(2, 4, 0), (2, 0, 4), (2, -1, 0), (3, 0, 0), (31, 0, 0), (-1, 0, 0), (64, 1, 1)] {
            #expect(await map.image(zoom: zoom, column: column, row: row) == nil)
        }
        #expect(faults() == [])
    }

    @Test func `the extent is that of the metadata, and otherwise that of the images`() async throws {
        try write([
            "format": "JPG", "minzoom": "1", "maxzoom": "14", "bounds": "11, 48.0,11.5,48.25",
            "attribution": "<a href=\"javascript:alert(1)\">&copy; OpenStreetMap</a> contributors",
        ])
        let described = try #require(await archive().map.description)
        #expect(described.minZoom == 1)
        #expect(described.maxZoom == 14)
        #expect(described.bounds == [11, 48, 11.5, 48.25])
        #expect(described.attribution == "© OpenStreetMap contributors")
        try write(["bounds": "1,2,3"], to: "bare.mbtiles")
        let bare = MapArchive(path: scratch.file("bare.mbtiles")) { _ in }
        let extent = try #require(await bare.description)
        #expect(extent.minZoom == 2)
        #expect(extent.maxZoom == 2)
        let bounds = extent.bounds.map { Int($0) }
        #expect(bounds == [-180, -85, 180, 85] as [Int])
        #expect(extent.attribution == nil)
    }

    @Test func `a file that is not a map of images is refused once, with its reason`() async throws {
        let (map, faults) = archive()
        for _ in 0..<3 { #expect(await map.description == nil) }
        #expect(faults() == ["cannot use the map \(path): there is no such file"])
        try scratch.write("no database, but longer than a header of SQLite\n", to: "city.mbtiles")
        for _ in 0..<3 { #expect(await map.image(zoom: 2, column: 0, row: 0) == nil) }
        #expect(faults().count == 2)
        #expect(faults()[1].contains("not a readable MBTiles file"))
        try FileManager.default.removeItem(atPath: path)
        try write(["format": "pbf"])
        #expect(await map.description == nil)
        #expect(faults()[2].contains("it has pbf tiles; use a map of png, jpg or webp images"))
        try FileManager.default.removeItem(atPath: path)
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "CREATE TABLE metadata (name TEXT, value TEXT)")
        }
        #expect(await map.description == nil)
        #expect(faults()[3].contains("no such table: tiles"))
    }

    @Test func `a file that replaces another is used, and a damaged one ends nothing`() async throws {
        let (map, _) = archive()
        #expect(await map.description == nil)
        try write(["format": "png", "maxzoom": "2"])
        #expect(await map.description?.maxZoom == 2)
        try write(["format": "png", "maxzoom": "9"], to: "new.mbtiles")
        rename(scratch.file("new.mbtiles"), path)
        #expect(await map.description?.maxZoom == 9)
        #expect(await map.image(zoom: 2, column: 1, row: 1) != nil)
        var bytes = try #require(FileManager.default.contents(atPath: path))
        for index in bytes.indices.dropFirst(200) { bytes[index] = 0x5A }
        try scratch.write(bytes, to: "new.mbtiles")
        rename(scratch.file("new.mbtiles"), path)
        #expect(await map.image(zoom: 2, column: 1, row: 1) == nil)
    }
}
