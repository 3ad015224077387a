import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import Places

/// Sets the user as whom this thread accesses files, and returns the previous one (setfsuid(2)).
@_silgen_name("setfsuid")
private func setfsuid(_ user: UInt32) -> Int32

@Suite(.computing) struct PlaceFileTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func refusal(at path: String) -> String {
        rig.message(path) { path throws(PlaceFileFault) in _ = try PlaceFile.read(path) }
    }

    @Test func `a missing file is refused`() {
        #expect(refusal(at: rig.scratch.file("none")) == "none: no such file; check the path")
    }

    @Test func `a folder, a FIFO and a device are refused without waiting`() throws {
        #expect(refusal(at: rig.scratch.path) == "\(rig.scratch.path): not a regular file; name a file")
        let fifo = rig.scratch.file("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        #expect(refusal(at: fifo) == "fifo: not a regular file; name a file")
        #expect(refusal(at: "/dev/zero") == "/dev/zero: not a regular file; name a file")
    }

    @Test func `a file without permission is refused`() throws {
        let path = try rig.scratch.write("", to: "secret")
        chmod(path, 0)
        // For root too, which may read every file: this thread accesses files as the user 65534.
        let user = setfsuid(65_534)
        defer { _ = setfsuid(UInt32(bitPattern: user)) }
        #expect(refusal(at: path) == "secret: permission denied; check the file's mode")
    }

    @Test func `a failed read states the reason of the system`() {
        #expect(PlaceFileFault(path: "a", kind: .unreadable(EIO)).description == "a: Input/output error")
    }

    @Test func `control characters of a file do not reach the terminal`() throws {
        #expect(
            try rig.refusal("name,latitude,longitude\nA,\u{1B}[2J,2").hasPrefix(
                "file:2: the latitude is \"\u{FFFD}[2J\""
            )
        )
    }

    @Test func `a long value is cut in the message, even if it is one character`() throws {
        let value = "a" + String(repeating: "\u{301}", count: 100_000)
        #expect(
            try rig.refusal("name,latitude,longitude\nA,\(value),2")
                == "file:2: the latitude is \"\(String(value.unicodeScalars.prefix(64)))…\"; it must be a number from -90 to 90"
        )
    }

    @Test func `an empty file is refused`() throws {
        #expect(try rig.refusal("") == "file: the file is empty; export it again")
    }

    @Test(
        arguments: [
            ([0x1F, 0x8B, 8, 0], "file: compressed with gzip; decompress it first"),
            (Array("BZh9".utf8), "file: compressed with bzip2; decompress it first"),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "file: compressed with xz; decompress it first"),
            ([0xFF, 0xFE, 0x6E, 0], "file: invalid UTF-8; save the file as UTF-8"),
            (
                Array("[1]".utf8),
                "file: a JSON array; write a FeatureCollection or OwnTracks waypoints"
            ),
            (
                Array("hello\n".utf8),
                "file: unknown format; name a file with GeoJSON, GPX, CSV, OwnTracks waypoints, or a GTFS archive"
            ),
            (
                [0x7F, 0x45, 0x4C, 0x46, 0, 1, 0x2C],
                "file: unknown format; name a file with GeoJSON, GPX, CSV, OwnTracks waypoints, or a GTFS archive"
            ),
            (
                Array("PK\u{3}\u{4}".utf8) + Array(repeating: 0, count: 100),
                "file: not a zip archive, or cut off; download it again"
            ),
        ] as [([UInt8], String)]
    )
    func `a file of another kind is refused`(bytes: [UInt8], message: String) throws {
        #expect(try rig.refusal(bytes) == message)
    }

    @Test(
        arguments: [
            ("a.csv", ImportRig.collection(ImportRig.feature())),
            ("a.geojson", "name,latitude,longitude\nA,52.5,13.4"),
            ("a.zip", #"  {"_type":"waypoint","desc":"A","lat":52.5,"lon":13.4}"#),
            ("a.json", #"{"x":{"_type":1},"_type":"waypoint","desc":"A","lat":52.5,"lon":13.4}"#),
            (
                "a.json",
                #"{"x":"_type","type":"Feature","_type":"waypoint","geometry":{"type":"Point","coordinates":[13.4,52.5]},"properties":{"name":"A"}}"#
            ),
            ("a", "\u{FEFF}\n<gpx><wpt lat=\"52.5\" lon=\"13.4\"><name>A</name></wpt></gpx>"),
        ]
    )
    func `the content decides the format`(name: String, content: String) throws {
        let places = try rig.places(content, name)
        #expect(
            places == [
                PlaceDefinition(
                    name: "A",
                    shape: .circle(center: Coordinate(latitude: 52.5, longitude: 13.4), radius: 50)
                )
            ]
        )
    }

    @Test func `a text file that is too large is refused before it is read`() throws {
        let path = try rig.scratch.write("name,latitude,longitude\n", to: "large.csv")
        #expect(truncate(path, 1 << 30) == 0)
        #expect(refusal(at: path) == "large.csv: larger than 512 MiB; split the file")
    }

    @Test func `a file that grows while it is read is refused`() throws {
        let path = try rig.scratch.write("x", to: "growing")
        let file = try ImportFile(path: path)
        try file.check(limit: 10)
        #expect(truncate(path, 1 << 30) == 0)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 20, alignment: 16)
        defer { block.deallocate() }
        #expect(throws: ImportFault.self) { while try file.read(into: block) > 0 {} }
    }

    @Test func `more than 100,000 places are refused`() throws {
        let lines = (0...100_000).map { "\($0),1,2" }.joined(separator: "\n")
        #expect(
            try rig.refusal("name,latitude,longitude\n\(lines)")
                == "file:100002: more than 100000 places; split the file"
        )
    }

    @Test func `10 million vertices are refused after the first million`() throws {
        let source = EndlessLine(positions: 10_000_000)
        let collector = PlaceCollector(source: nil, noun: "feature") { _ in nil }
        let fault = try #require(
            throws: ImportFault.self
        ) {
            var json = try JSONReader(source)
            _ = try GeoJSONPlaces.read(&json, collector)
        }
        #expect(fault.at("file").description == "file:1: feature 1: more than 1000000 positions; split the file")
        #expect(source.bytesRead < 7 << 20)
    }

    @Test func `too much text is refused`() throws {
        let value = String(repeating: "x", count: 16_000)
        let lines = (0..<4_300).map { "\($0),1,2,\(value)" }.joined(separator: "\n")
        #expect(
            try rig.refusal("name,latitude,longitude,x\n\(lines)")
                == "file:4178: more than 67108864 bytes of names and properties; split the file"
        )
    }

    @Test(arguments: ["name,latitude,longitude\nA,1,2", ImportRig.feature(), "<gpx/>"])
    func `a cancelled task reads nothing`(content: String) async throws {
        let path = try rig.scratch.write(content, to: "file")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return refusal(at: path)
        }
        #expect(await task.value == "file: cancelled; nothing was imported")
    }
}

/// A FeatureCollection with one long line, which no file holds.
private final class EndlessLine: ByteSource {
    private(set) var bytesRead = 0
    private let end: Int
    private var rest: [UInt8] = Array(#"{"features":[{"geometry":{"coordinates":["#.utf8)

    init(positions: Int) { end = positions * 6 }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportFault) -> Int {
        guard bytesRead < end else { return 0 }
        while rest.count < buffer.count { rest.append(contentsOf: "[1,2],".utf8) }
        buffer.copyBytes(from: rest.prefix(buffer.count))
        rest.removeFirst(buffer.count)
        bytesRead += buffer.count
        return buffer.count
    }
}
