import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

/// Tags and pictures, as the usual tools write them.
@Suite struct TagTests {
    private let media: Media

    init() throws { media = try Media() }

    private func describe(_ path: String, withPicture: Bool = false) throws -> FileDescription {
        try FileDescription(MediaFile(path: path), withPicture: withPicture)
    }

    private static let tags = [
        SongTag(.title, "Zwölf Boxkämpfer"), SongTag(.artist, "Ann"), SongTag(.artist, "Bob"),
        SongTag(.album, "Alb"), SongTag(.track, "3"), SongTag(.date, "1999-12-31"), SongTag(.genre, "Jazz"),
        SongTag(.albumArtist, "Various"), SongTag(.disc, "2"),
    ]

    /// The arguments that write ``tags`` as comments, each after `option`.
    private static func comments(_ option: String) -> [String] {
        [
            "title=Zwölf Boxkämpfer", "artist=Ann", "artist=Bob", "album=Alb", "tracknumber=03/12", "date=1999-12-31",
            "genre=Jazz", "albumartist=Various", "discnumber=2", "REPLAYGAIN_TRACK_GAIN=-6.20 dB",
        ].flatMap { [option, $0] }
    }

    /// A PNG of one pixel.
    private static let png = Data(
        base64Encoded: """
            iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
            """
    )!

    private func encoded(_ kind: String, picture: Bool = false) async throws -> String {
        let source = try await media.wav("source.wav", seconds: 0.5)
        let path = media.path("song.\(kind)")
        let cover = try media.scratch.write(Self.png, to: "cover.png")
        switch kind {
        case "flac":
            let pictures = picture ? ["--picture", cover] : []
            try await Tool.run(words: ["flac", "-s"] + Self.comments("-T") + pictures + ["-o", path, source])
        case "ogg":
            try await Tool.run(words: ["oggenc", "-Q"] + Self.comments("-c") + ["-o", path, source])
        case "opus":
            let pictures = picture ? ["--picture", cover] : []
            let opus = ["opusenc", "--quiet"] + Self.comments("--comment") + pictures
            try await Tool.run(words: opus + [source, path])
        default:
            try await Tool.run(
                words: [
                    "ffmpeg", "-v", "error", "-i", source, "-i", cover, "-map", "0", "-map", "1", "-c:v", "copy",
                    "-id3v2_version", "4", "-metadata", "title=Zwölf Boxkämpfer", "-metadata", "artist=Ann",
                    "-metadata", "album=Alb", "-metadata", "track=03/12", "-metadata", "date=1999-12-31",
                    "-metadata", "genre=(8)", "-metadata", "album_artist=Various", "-metadata", "disc=2",
                    "-metadata", "REPLAYGAIN_TRACK_GAIN=-6.20 dB", path,
                ]
            )
        }
        return path
    }

    @Test(arguments: ["flac", "ogg", "opus", "mp3"])
    func `tags are read as they were given to the encoder`(_ kind: String) async throws {
        let path = try await encoded(kind)
        let description = try describe(path)
        let expected = kind == "mp3" ? Self.tags.filter { $0.value != "Bob" } : Self.tags
        #expect(Set(description.tags).isSuperset(of: expected), "\(description.tags)")
        #expect(description.tags.filter { $0.name == .artist } == expected.filter { $0.name == .artist })
        #expect(abs((description.duration ?? 0) - 0.5) < 0.001)
        let gain =
            kind == "mp3"
            ? try MP3Tags(MediaFile(path: path)).values["REPLAYGAIN_TRACK_GAIN"]
            : VorbisComments(try MediaFile(path: path))?["replaygain_track_gain"]
        #expect(gain == "-6.20 dB")
        #expect(description.picture == nil)
    }

    @Test(arguments: ["flac", "opus", "mp3"])
    func `a picture is read as it was embedded`(_ kind: String) async throws {
        let picture = try describe(try await encoded(kind, picture: true), withPicture: true).picture
        #expect(picture?.type == "image/png")
        #expect(picture.map { Data($0.bytes) } == Self.png)
    }

    @Test func `the ID3v1 tag at the end of an MP3 is used if there is no other`() async throws {
        let path = try await media.mp3(
            "old.mp3",
            seconds: 0.5,
            "--id3v1-only",
            "--tt",
            "Title",
            "--ta",
            "Ann",
            "--tn",
            "7",
            "--tg",
            "17"
        )
        let tags = try describe(path).tags
        #expect(
            Set(tags).isSuperset(of: [
                SongTag(.title, "Title"), SongTag(.artist, "Ann"), SongTag(.track, "7"), SongTag(.genre, "Rock"),
            ]),
            "\(tags)"
        )
    }

    @Test func `tags are read from the chunks of WAV and AIFF files`() async throws {
        let source = try await media.wav("source.wav", seconds: 0.5)
        for kind in ["wav", "aiff"] {
            let path = media.path("tagged.\(kind)")
            try await Tool.run(
                "ffmpeg",
                "-v",
                "error",
                "-i",
                source,
                "-metadata",
                "title=Title",
                "-metadata",
                "artist=Ann",
                path
            )
            let tags = try describe(path).tags
            #expect(tags.contains(SongTag(.title, "Title")), "\(kind) \(tags)")
        }
    }

    @Test func `the first valid front cover is preferred to other pictures`() {
        var choice = Picture.Choice()
        choice.offer { Picture(type: nil, bytes: [1], isFrontCover: false) }
        choice.offer { Picture(type: nil, bytes: [2], isFrontCover: false) }
        choice.offer { Picture(type: "-->", bytes: [3], isFrontCover: true) }
        #expect(choice.isOpen)
        choice.offer { Picture(type: nil, bytes: [4], isFrontCover: true) }
        choice.offer { Picture(type: nil, bytes: [5], isFrontCover: true) }
        #expect(choice.picture?.bytes == [4])
    }

    @Test(arguments: ["17": "Rock", "(17)": "Rock", "(17)Hard Rock": "Hard Rock", "(RX)": "(RX)", "300": "300", "": ""])
    func `a genre number is replaced by its name`(_ text: String, _ name: String) {
        #expect(ID3Genre.name(text) == name)
    }

    // MARK: Hostile files

    /// Returns a comment header: an empty vendor and the comments, with the lengths that they claim.
    private static func header(vendor: Int, count: Int, _ comments: [(length: Int, text: [UInt8])]) -> [UInt8] {
        var bytes = number(vendor) + number(count)
        for comment in comments { bytes += number(comment.length) + comment.text }
        return bytes
    }

    private static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian) { Array($0) }
    }

    private static func flac(_ block: [UInt8], claimed: Int? = nil) -> [UInt8] {
        Array("fLaC".utf8) + metadataBlock(block, claimed: claimed, isLast: true)
    }

    /// Returns a metadata block of comments.
    private static func metadataBlock(_ content: [UInt8], claimed: Int? = nil, isLast: Bool) -> [UInt8] {
        var bytes: [UInt8] = [isLast ? 0x84 : 0x04]
        bytes += number(claimed ?? content.count)[..<3].reversed()
        return bytes + content
    }

    private typealias Page = (serial: UInt8, lacing: [UInt8], body: [UInt8])

    private static func ogg(_ pages: [Page]) -> [UInt8] {
        var bytes: [UInt8] = []
        for page in pages {
            bytes += Array("OggS".utf8)
            bytes += [UInt8](repeating: 0, count: 10)
            bytes.append(page.serial)
            bytes += [UInt8](repeating: 0, count: 11)
            bytes.append(UInt8(page.lacing.count))
            bytes += page.lacing
            bytes += page.body
        }
        return bytes
    }

    private func comments(_ bytes: [UInt8]) throws -> [VorbisComments.Entry]? {
        VorbisComments(try MediaFile(path: media.scratch.write(bytes, to: "hostile")))?.entries
    }

    @Test func `impossible lengths end the list of comments`() throws {
        let good = (length: 3, text: Array("A=b".utf8))
        let entry = VorbisComments.Entry(name: "A", value: "b")
        func expect(_ expected: [VorbisComments.Entry], vendor: Int = 0, count: Int, _ list: [(Int, [UInt8])]) throws {
            let header = Self.header(vendor: vendor, count: count, list.map { (length: $0.0, text: $0.1) })
            #expect(try comments(Self.flac(header)) == expected)
        }
        try expect([entry], count: 1, [good])
        try expect([entry], count: 0xFFFF_FFFF, [good])
        try expect([], vendor: 0xFFFF_FFFF, count: 1, [good])
        try expect([entry], count: 2, [good, (0xFFFF_FFFF, [1, 2])])
        try expect([entry], count: 2, [good, (0x0010_0000, [1, 2])])
        try expect([entry], count: 3, [(3, Array("no!".utf8)), (0, []), good])
        try expect([VorbisComments.Entry(name: "", value: "b")], count: 1, [(2, Array("=b".utf8))])
        #expect(try comments(Self.flac(Self.header(vendor: 0, count: 1, [good]), claimed: 0xFF_FFFF)) == [entry])
        #expect(try comments(Array("fLaC".utf8)) == [])
        #expect(try comments(Array("fLaC".utf8) + [0x04, 0, 0]) == [])
        #expect(try comments(Array("RIFF".utf8)) == nil)
    }

    @Test func `at most 1,000 comments and 1 MiB of comments are read`() throws {
        let many = Self.header(vendor: 0, count: 5_000, .init(repeating: (3, Array("A=b".utf8)), count: 5_000))
        #expect(try comments(Self.flac(many))?.count == 1_000)
        let long = (length: 60_000, text: Array("A=".utf8) + [UInt8](repeating: 97, count: 59_998))
        let large = try comments(Self.flac(Self.header(vendor: 0, count: 100, .init(repeating: long, count: 100))))
        #expect(large?.count == 17)
    }

    @Test func `only the first block of comments is read`() throws {
        let blocks = ["A=b", "C=d", "E=f"].map { text in
            Self.metadataBlock(Self.header(vendor: 0, count: 1, [(3, Array(text.utf8))]), isLast: text == "E=f")
        }
        let entries = try comments(Array("fLaC".utf8) + blocks.joined())
        #expect(entries == [VorbisComments.Entry(name: "A", value: "b")])
    }

    @Test func `a comment packet is read across pages, past those of other streams`() throws {
        let text = Array(String(repeating: "x", count: 600).utf8)
        let list = Self.header(vendor: 0, count: 1, [(length: 602, text: Array("A=".utf8) + text)])
        let packet = Array("OpusTags".utf8) + list
        let head: Page = (1, [8], Array("OpusHead".utf8))
        let other: Page = (2, [255], [UInt8](repeating: 9, count: 255))
        let parts: [Page] = [
            (1, [255], Array(packet[..<255])), (1, [255], Array(packet[255..<510])),
            (1, [UInt8(packet.count - 510)], Array(packet[510...])),
        ]
        let file = Self.ogg([head, other, parts[0], other, parts[1], parts[2]])
        #expect(try comments(file)?.first?.value.utf8.count == 600)
        // A packet that is cut off gives no comments.
        for end in stride(from: 0, to: file.count, by: 13) {
            #expect(try comments(Array(file[..<end]))?.isEmpty != false)
        }
        let empty: Page = (2, [0], [])
        let endless = Self.ogg([head] + [Page](repeating: empty, count: 20_000))
        #expect(try comments(endless) == [])
    }

    @Test func `damage in a file's head costs tags but gives no empty or unprintable ones`() async throws {
        var generator = SeededGenerator(seed: 5)
        for kind in ["flac", "opus", "ogg", "mp3"] {
            let good = try await [UInt8](Data(contentsOf: URL(fileURLWithPath: encoded(kind, picture: true))))
            for round in 0..<60 {
                var bytes = good
                for _ in 0...round % 8 {
                    bytes[Int.random(in: 0..<min(bytes.count, 2_000), using: &generator)] = .random(
                        in: 0...255,
                        using: &generator
                    )
                }
                if round % 5 == 0 { bytes.removeLast(bytes.count - Int.random(in: 0..<bytes.count, using: &generator)) }
                let path = try media.scratch.write(bytes, to: "damaged.\(kind)")
                let description = try? FileDescription(MediaFile(path: path), withPicture: true)
                #expect(
                    description?.tags.allSatisfy { !$0.value.isEmpty && $0.value.withoutControlCharacters == $0.value }
                        != false
                )
            }
        }
    }
}
