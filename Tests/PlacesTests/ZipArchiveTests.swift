import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import Places

@Suite struct ZipArchiveTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func refusal(_ path: String) -> String {
        rig.message(path) { path throws(PlaceFileFault) in _ = try PlaceFile.read(path) }
    }

    /// Returns the message for an archive with the stops and these files.
    private func refusal(_ entries: [TestArchive.Entry]) async throws -> String {
        let stops = TestArchive.Entry(name: "stops.txt", text: TestArchive.stops)
        return refusal(try await TestArchive.make([stops] + entries, in: rig.scratch))
    }

    /// Returns the message for an archive with the stops whose bytes `damage` changes.
    private func refusal(
        method: Int = 8,
        entry: String = "stops.txt",
        _ damage: (inout [UInt8]) throws -> Void
    ) async throws -> String {
        let path = try await TestArchive.make(
            [TestArchive.Entry(name: entry, text: TestArchive.stops, method: method)],
            in: rig.scratch
        )
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try damage(&bytes)
        return refusal(try rig.scratch.write(bytes, to: "feed.zip"))
    }

    /// The index of the list's record of the first file (APPNOTE.TXT, 4.3.12), and that of the end record (4.3.16).
    private func directory(_ bytes: [UInt8]) throws -> (list: Int, end: Int) {
        (
            try #require(bytes.firstRange(of: [0x50, 0x4B, 1, 2])?.lowerBound),
            try #require(bytes.firstRange(of: [0x50, 0x4B, 5, 6])?.lowerBound)
        )
    }

    @Test(arguments: [0, 8, 12])
    func `stored, deflated and bzip2 files are read`(method: Int) async throws {
        #expect(try await refusal(method: method) { _ in } == "accepted")
    }

    @Test func `an unusual compression is refused`() async throws {
        let message = try await refusal { bytes in
            let list = try directory(bytes).list
            (bytes[8], bytes[list + 10]) = (98, 98)
        }
        #expect(message == "feed.zip: stops.txt: an unusual compression; pack the archive with deflate")
    }

    @Test(arguments: ["../stops.txt", "a/../../x", "/etc/passwd", "a\\b", "..", "a/.."])
    func `an archive with a name that leaves its folder is refused`(name: String) async throws {
        #expect(
            try await refusal([TestArchive.Entry(name: name, text: "x")])
                == "feed.zip: a file named \"\(name)\" leaves its folder; do not use this archive"
        )
    }

    @Test(arguments: [["..a/b..c/", "..."], ["folder/", "folder/"]])
    func `names with dots and repeated folders are not an attack`(names: [String]) async throws {
        #expect(try await refusal(names.map { TestArchive.Entry(name: $0) }) == "accepted")
    }

    @Test func `two files of a name are refused`() async throws {
        #expect(
            try await refusal([TestArchive.Entry(name: "stops.txt", text: "x")])
                == "feed.zip: stops.txt: the archive has two files of this name; pack it again"
        )
    }

    @Test func `more than 1000 files are refused`() async throws {
        let entries = (0..<1_000).map { TestArchive.Entry(name: "f\($0)") }
        #expect(
            try await refusal(entries)
                == "feed.zip: more than 1000 files in the archive; a GTFS feed has about 20"
        )
        #expect(try await refusal(Array(entries.dropLast())) == "accepted")
    }

    @Test func `a list of more than 1 MiB is refused`() async throws {
        let message = try await refusal { bytes in
            let end = try directory(bytes).end
            bytes[end + 14] = 0x11
        }
        #expect(message == "feed.zip: more than 1000 files in the archive; a GTFS feed has about 20")
    }

    @Test(arguments: [32, 40])
    func `a Zip64 record of billions of files is refused`(field: Int) async throws {
        let message = try await refusal { bytes in
            let end = try directory(bytes).end
            var record: [UInt8] = [0x50, 0x4B, 6, 6, 44] + Array(repeating: 0, count: 51)
            record[field + 4] = 1
            let offset = (0..<8).map { UInt8(truncatingIfNeeded: end >> (8 * $0)) }
            let locator = [0x50, 0x4B, 6, 7, 0, 0, 0, 0] + offset + [1, 0, 0, 0]
            let tail = Array(bytes[end..<end + 8]) + Array(repeating: 0xFF, count: 12) + [0, 0]
            bytes = Array(bytes[..<end]) + record + locator + tail
        }
        #expect(message == "feed.zip: more than 1000 files in the archive; a GTFS feed has about 20")
    }

    @Test func `an archive of many times its size is refused`() async throws {
        let bomb = TestArchive.Entry(name: "bomb.txt", text: String(repeating: "0", count: 1_000), count: 100_000)
        #expect(
            try await refusal([bomb]) == "feed.zip: bomb.txt: too large when decompressed; do not use this archive"
        )
    }

    @Test func `files of more than 8 GiB in total are refused`() async throws {
        let path = try await TestArchive.make(
            ["stops.txt": TestArchive.stops, "a": "a", "b": "b", "c": "c"],
            in: rig.scratch
        )
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for list in bytes.ranges(of: [0x50, 0x4B, 1, 2]).map(\.lowerBound) {
            // Compressed and decompressed sizes of almost 4 GiB.
            bytes.replaceSubrange(list + 20..<list + 28, with: [0, 0, 0, 0xF0, 0, 0, 0, 0xF0])
        }
        #expect(
            refusal(try rig.scratch.write(bytes, to: "feed.zip"))
                == "feed.zip: too large when decompressed; do not use this archive"
        )
    }

    @Test(arguments: [0x02, 0x7F, 0xFF] as [UInt8])
    func `a file of exabytes is refused`(high: UInt8) async throws {
        let message = try await refusal { bytes in
            let (list, end) = try directory(bytes)
            // The real sizes are in an extra field of Zip64 (4.5.3), which follows the name.
            let size = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, high]
            bytes[end + 12] += 20
            bytes.insert(contentsOf: [1, 0, 16, 0] + size + size, at: list + 46 + "stops.txt".utf8.count)
            bytes[list + 30] = 20
            for index in list + 20..<list + 28 { bytes[index] = 0xFF }
        }
        #expect(message == "feed.zip: stops.txt: too large when decompressed; do not use this archive")
    }

    @Test func `a file that is larger than stated is refused`() async throws {
        let message = try await refusal { bytes in
            let list = try directory(bytes).list
            bytes[list + 24] = 10
            bytes[list + 25] = 0
        }
        #expect(message == "feed.zip: stops.txt: larger than the archive states; do not use this archive")
    }

    @Test func `a file that is smaller than stated is refused`() async throws {
        let message = try await refusal { bytes in bytes[try directory(bytes).list + 26] = 1 }
        #expect(message == "feed.zip: stops.txt: smaller than the archive states; download it again")
    }

    @Test func `a wrong checksum is refused`() async throws {
        let message = try await refusal { bytes in bytes[try directory(bytes).list + 16] ^= 1 }
        #expect(message == "feed.zip: stops.txt: wrong checksum; download the archive again")
    }

    @Test func `damaged compressed data is refused`() async throws {
        let message = try await refusal { bytes in
            for index in 60..<120 { bytes[index] = 0xFF }
        }
        #expect(message == "feed.zip: stops.txt: damaged compressed data; download the archive again")
    }

    @Test func `an encrypted file is refused`() async throws {
        let message = try await refusal { bytes in
            bytes[6] |= 1
            bytes[try directory(bytes).list + 8] |= 1
        }
        #expect(message == "feed.zip: stops.txt: encrypted; unpack it with its password, and pack it without")
    }

    @Test func `an archive that is cut off is refused, wherever the cut is`() async throws {
        let path = try await TestArchive.make(["stops.txt": TestArchive.stops], in: rig.scratch)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for count in 4..<bytes.count {
            let message = refusal(try rig.scratch.write(bytes[..<count], to: "cut.zip"))
            #expect(message == "cut.zip: not a zip archive, or cut off; download it again", "\(count)")
        }
    }

    @Test func `a list of files that points elsewhere is refused`() async throws {
        let message = try await refusal { bytes in bytes[try directory(bytes).end + 16] ^= 8 }
        #expect(message.hasPrefix("feed.zip: "))
        #expect(message.hasSuffix("; download it again"))
    }

    @Test func `a comment after the archive is allowed`() async throws {
        let message = try await refusal { bytes in
            bytes[bytes.count - 2] = 5
            bytes += Array("hello".utf8)
        }
        #expect(message == "accepted")
    }

    @Test func `an archive of more than 1 GiB is refused`() async throws {
        let path = try rig.scratch.write("PK\u{3}\u{4}", to: "feed.zip")
        #expect(truncate(path, (1 << 30) + 1) == 0)
        #expect(refusal(path) == "feed.zip: larger than 1024 MiB; split the file")
    }
}
