import Foundation
import TestSupport
import Testing

/// A kind of file that the player reads: how to make it, and which decoder gives the reference.
struct MediaKind: Sendable, CustomStringConvertible {
    enum Maker: Sendable {
        /// lame with these options.
        case lame([String])
        /// sox with these options before the name of the file.
        case sox([String])
        /// A program and its arguments; `SOURCE` and `FILE` stand for the paths.
        case program([String])
    }
    enum Reference: Sendable {
        case mpg123
        /// sox's 16-bit integers, unchanged.
        case sox
        /// sox's 32-bit integers, rounded here.
        case soxRounded
        /// A program that writes 16-bit samples; `FILE` stands for the path.
        case program([String])
    }

    let name: String
    let maker: Maker
    let reference: Reference
    var rate = 44_100
    var channels = 2
    /// The largest allowed difference from the reference, since decoders round differently.
    var tolerance = 0
    /// The largest allowed difference between a sample after a seek and the same sample without one.
    var seekTolerance = 0
    /// Edits the bytes of the encoded file.
    var edit: @Sendable (Data) throws -> Data = { $0 }

    var description: String { name }
}

extension MediaKind {
    static let all = mpegKinds + waveKinds + otherKinds

    private static func mpeg(
        _ name: String,
        _ options: String...,
        rate: Int = 44_100,
        channels: Int = 2,
        edit: @escaping @Sendable (Data) throws -> Data = { $0 }
    ) -> MediaKind {
        MediaKind(
            name: name + ".mp3",
            maker: .lame(options + ["--resample", "\(Double(rate) / 1000)"]),
            reference: .mpg123,
            rate: rate,
            channels: channels,
            seekTolerance: 1,
            edit: edit
        )
    }

    /// MPEG 1, 2 and 2.5 at all their rates, with and without the header that states the length.
    private static let mpegKinds =
        [
            mpeg("cbr", "-b", "128"), mpeg("cbr-bare", "-b", "128", "-t"), mpeg("vbr", "-V", "4"),
            mpeg("vbr-bare", "-V", "4", "-t"), mpeg("abr", "--abr", "150"), mpeg("abr-bare", "--abr", "150", "-t"),
            mpeg("stereo", "-m", "s", "-b", "192"), mpeg("joint", "-m", "j", "-b", "96"),
            mpeg("full-reservoir", "-b", "320"), mpeg("no-reservoir", "--nores", "-b", "256"),
            mpeg("checksums", "-p", "-b", "128"), mpeg("free", "--freeformat", "-b", "400"),
            mpeg("free-bare", "--freeformat", "-b", "400", "-t"), mpeg("mono", "-m", "m", "-b", "64"),
            mpeg("mono-source", "-V", "5", channels: 1),
            mpeg("id3v1", "--id3v1-only", "--tt", "A title", "-b", "128"),
            mpeg("id3v2", "--id3v2-only", "--pad-id3v2-size", "200000", "--tt", "A title", "-b", "128"),
            mpeg("tags", "--add-id3v2", "--tt", "A title", "--ta", "Somebody", "-V", "2") { $0 + apeTag },
            mpeg("in-riff", "-b", "128") { riff($0) },
            mpeg("two-tags", "--id3v2-only", "--tt", "A title", "-b", "128") { id3(bytes: 300) + $0 },
        ]
        + [48_000, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000].flatMap { rate in
            [
                mpeg("\(rate)", "-b", rate < 16_000 ? "32" : "64", rate: rate),
                mpeg("\(rate)-vbr-bare", "-V", "5", "-t", rate: rate, channels: 1),
            ]
        }

    private static func wave(
        _ name: String,
        _ options: String...,
        rate: Int = 44_100,
        channels: Int = 2,
        exact: Bool = false
    )
        -> MediaKind
    {
        MediaKind(
            name: name,
            maker: .sox(options),
            reference: exact ? .sox : .soxRounded,
            rate: rate,
            channels: channels,
            tolerance: exact ? 0 : 1
        )
    }

    private static let waveKinds = [
        wave("16.wav", "-b", "16", exact: true), wave("8.wav", "-b", "8"), wave("24.wav", "-b", "24"),
        wave("32.wav", "-b", "32"), wave("float.wav", "-e", "floating-point", "-b", "32"),
        wave("double.wav", "-e", "floating-point", "-b", "64"), wave("a-law.wav", "-e", "a-law"),
        wave("u-law.wav", "-e", "mu-law"), wave("ima.wav", "-e", "ima-adpcm"), wave("ms.wav", "-e", "ms-adpcm"),
        wave("8000.wav", "-b", "16", rate: 8_000, channels: 1, exact: true),
        wave("96000.wav", "-b", "24", rate: 96_000), wave("192000.wav", "-b", "16", rate: 192_000, exact: true),
        wave("6-channels.wav", "-b", "16", rate: 48_000, channels: 6, exact: true),
        wave("big-endian.wav", "-B", "-b", "16", exact: true), wave("16.w64", "-b", "16", exact: true),
        wave("24.w64", "-b", "24"), wave("16.aiff", "-b", "16", exact: true), wave("24.aiff", "-b", "24"),
        wave("16.aifc", "-b", "16", exact: true), wave("16.au", "-b", "16", exact: true),
        wave("u-law.au", "-e", "mu-law"),
        wave("float.au", "-e", "floating-point", "-b", "32"), wave("16.caf", "-b", "16", exact: true),
        wave("24.caf", "-b", "24"),
        MediaKind(name: "16.rf64", maker: .sox(["-b", "16", "-t", "wav"]), reference: .sox) { try rf64($0) },
    ]

    private static let otherKinds = [
        MediaKind(
            name: "16.flac",
            maker: .program(["flac", "-s", "-o", "FILE", "SOURCE"]),
            reference: .program([
                "flac", "-d", "-s", "-c", "--force-raw-format", "--endian=little", "--sign=signed", "FILE",
            ])
        ),
        MediaKind(name: "24.flac", maker: .sox(["-b", "24"]), reference: .soxRounded, tolerance: 1),
        MediaKind(
            name: "vorbis.ogg",
            maker: .program(["oggenc", "-Q", "-o", "FILE", "SOURCE"]),
            reference: .program(["oggdec", "-Q", "-R", "-b", "16", "-o", "-", "FILE"]),
            tolerance: 1,
            seekTolerance: 1
        ),
        MediaKind(
            name: "mono.ogg",
            maker: .program(["oggenc", "-Q", "-o", "FILE", "SOURCE"]),
            reference: .program(["oggdec", "-Q", "-R", "-b", "16", "-o", "-", "FILE"]),
            rate: 22_050,
            channels: 1,
            tolerance: 1,
            seekTolerance: 1
        ),
        MediaKind(
            name: "16.opus",
            maker: .program(["opusenc", "--quiet", "SOURCE", "FILE"]),
            reference: .program(["opusdec", "--quiet", "--no-dither", "--rate", "48000", "FILE", "-"]),
            rate: 48_000,
            tolerance: 1,
            seekTolerance: 1
        ),
    ]
}

// MARK: Bytes that no tool writes

/// An APEv2 tag of one item, with a header and a footer.
private let apeTag: Data = {
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let item = number(5) + number(0) + Array("Genre\0Tests".utf8)
    func edge(_ flags: Int) -> [UInt8] {
        Array("APETAGEX".utf8) + number(2000) + number(item.count + 32) + number(1) + number(flags) + number(0)
            + number(0)
    }
    return Data(edge(0xA000_0000) + item + edge(0x8000_0000))
}()

/// Returns an ID3v2.3 tag of padding.
func id3(bytes: Int) -> Data {
    let size = (0..<4).map { UInt8(bytes >> (7 * (3 - $0)) & 0x7F) }
    return Data(Array("ID3".utf8) + [3, 0, 0] + size) + Data(count: bytes)
}

/// Returns an MP3 in a WAV container.
private func riff(_ mp3: Data) -> Data {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let format = number(0x55, 2) + number(2, 2) + number(44_100, 4) + number(16_000, 4) + number(1, 2) + number(0, 2)
    let extra = number(12, 2) + number(1, 2) + number(2, 4) + number(417, 2) + number(1, 2) + number(0, 2)
    let head = Array("WAVEfmt ".utf8) + number(30, 4) + format + extra + Array("data".utf8) + number(mp3.count, 4)
    return Data(Array("RIFF".utf8) + number(head.count + mp3.count, 4) + head) + mp3
}

/// Returns a WAV as RF64, which has the sizes in a chunk of their own.
private func rf64(_ wave: Data) throws -> Data {
    let bytes = [UInt8](wave)
    func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let data = try #require(wave.range(of: Data("data".utf8)))
    let samples = bytes[(data.upperBound + 4)...]
    let format = bytes[12..<data.lowerBound]
    let body = format + Array("data".utf8) + [255, 255, 255, 255] + samples
    let sizes = number(body.count + 40) + number(samples.count) + number(samples.count / 4) + [0, 0, 0, 0]
    return Data(Array("RF64".utf8) + [255, 255, 255, 255] + Array("WAVEds64".utf8) + [28, 0, 0, 0] + sizes + body)
}
