/// The comments of a FLAC, Ogg Vorbis or Opus file, read without decoding.
///
///     VorbisComments(file)?["REPLAYGAIN_TRACK_GAIN"]      // "-6.20 dB"
///
/// It reads at most 1,000 comments and 1 MiB; a damaged comment ends the list. Usable from any thread that may wait for a
/// disk.
struct VorbisComments: Sendable {
    struct Entry: Hashable, Sendable {
        /// The name in upper case.
        var name: String
        /// The value as in the file, possibly of many lines.
        var value: String
    }

    private(set) var entries: [Entry] = []
    /// The picture, if it was requested.
    private(set) var picture: Picture.Choice?

    // Tuned: far more than any file has
    private static let mostEntries = 1_000
    private static let mostText = 1 << 20
    /// The longest text comment; a longer one is a picture or useless.
    private static let longestText = 1 << 16
    /// The longest comment: a picture of 16 MiB in base64, with its name.
    private static let longest = Picture.mostBytes / 3 * 4 + 4096

    private static let pictureName = "METADATA_BLOCK_PICTURE"

    /// Returns nil for any other kind of file.
    init?(_ file: MediaFile, withPicture: Bool = false) {
        if withPicture { picture = Picture.Choice() }
        let head = file.bytes(at: 0, count: 4)
        if head.starts(with: "fLaC".utf8) {
            readBlocks(of: file)
        } else if head.starts(with: "OggS".utf8) {
            readPackets(of: file)
        } else {
            return nil
        }
    }

    /// Returns the first value of `name`, ignoring case.
    subscript(_ name: String) -> String? {
        let name = name.uppercased()
        return entries.first { $0.name == name }?.value
    }

    /// Reads the metadata blocks of a FLAC file (RFC 9639).
    private mutating func readBlocks(of file: MediaFile) {
        var offset = 4
        var hasComments = false
        // Tuned: more blocks than any writer makes
        for _ in 0..<1_024 {
            let header = file.bytes(at: offset, count: 4)
            guard header.count == 4 else { return }
            let end = offset + 4 + header[1...].reduce(0) { $0 << 8 | Int($1) }
            var content = file.tagBytes(offset + 4..<end)
            switch header[0] & 0x7F {
            // There is at most one, and the limits are for one.
            case 4 where !hasComments:
                hasComments = true
                readComments(&content)
            case 6: picture?.offer { Picture(block: &content) }
            default: break
            }
            if header[0] & 0x80 != 0 { return }
            offset = end
        }
    }

    /// Reads the second packet of an Ogg stream, after its codec's prefix.
    private mutating func readPackets(of file: MediaFile) {
        let packets = OggPackets(file)
        var first = packets.next()
        guard let head = first.read(5) else { return }
        let mark: [UInt8] =
            switch head {
            case [1] + Array("vorb".utf8): [3] + Array("vorbis".utf8)
            case Array("OpusH".utf8): Array("OpusTags".utf8)
            default: []
            }
        if mark.isEmpty { return }
        var second = packets.next()
        if second.read(mark.count) == mark { readComments(&second) }
    }

    private mutating func readComments(_ content: inout TagBytes) {
        guard let vendor = content.littleEndian32(), vendor <= Self.mostText, content.skip(vendor),
            let count = content.littleEndian32()
        else { return }
        var text = 0
        for _ in 0..<min(count, Self.mostEntries) {
            guard let length = content.littleEndian32() else { return }
            if length <= Self.longestText {
                text += length
                guard text <= Self.mostText, let bytes = content.read(length) else { return }
                add(bytes)
            } else {
                guard length <= Self.longest, let start = content.read(Self.pictureName.utf8.count + 1) else { return }
                let rest = length - start.count
                if picture?.isOpen == true,
                    String(decoding: start, as: UTF8.self).uppercased() == Self.pictureName + "="
                {
                    guard let bytes = content.read(rest) else { return }
                    picture?.offer { Picture(base64: bytes) }
                } else if !content.skip(rest) {
                    return
                }
            }
        }
    }

    private mutating func add(_ bytes: [UInt8]) {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return }
        let name = String(decoding: bytes[..<equals], as: UTF8.self).uppercased()
        let value = bytes[(equals + 1)...]
        if name == Self.pictureName {
            picture?.offer { Picture(base64: Array(value)) }
        } else {
            entries.append(Entry(name: name, value: String(decoding: value, as: UTF8.self)))
        }
    }
}
