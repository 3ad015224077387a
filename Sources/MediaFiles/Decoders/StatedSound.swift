/// The place of the samples in a chunked file, as its headers state it.
///
/// libsndfile silently reduces the stated length to what is there. Writers that did not know the length leave a value near
/// 2³¹ or 2³², or none; such a header states nothing.
struct StatedSound {
    private(set) var offset: Int
    /// In bytes.
    private(set) var size: Int
    /// The bytes of a frame, if frames have a fixed size and the header states it.
    private(set) var blockAlign: Int?

    /// Tuned: more chunks before the samples than any writer makes.
    private static let mostChunks = 256

    init?(_ file: MediaFile) {
        let head = Head(file)
        let sound: StatedSound? =
            switch String(decoding: head.bytes(0, 4), as: UTF8.self) {
            case "RIFF", "RF64": Self.riff(Head(file))
            case "RIFX": Self.riff(Head(file, isBigEndian: true))
            case "FORM": Self.form(Head(file, isBigEndian: true))
            case "riff": Self.wave64(Head(file))
            case "caff": Self.caf(Head(file, isBigEndian: true))
            case ".snd": Self.au(Head(file, isBigEndian: true))
            case "dns.": Self.au(Head(file))
            default: nil
            }
        guard let sound, sound.size > 0 else { return nil }
        self = sound
    }

    private init(offset: Int, size: Int, blockAlign: Int? = nil) {
        self.offset = offset
        self.size = size
        self.blockAlign = blockAlign
    }

    /// Microsoft's RIFF, and RF64 (EBU Tech 3306), which has 64-bit lengths in a chunk before the samples.
    private static func riff(_ head: Head) -> StatedSound? {
        var offset = 12
        var blockAlign: Int?
        var long: Int?
        for _ in 0..<mostChunks {
            guard let size = head.number(offset + 4, 4) else { return nil }
            switch head.name(offset) {
            case "fmt ": blockAlign = head.number(offset + 20, 2)
            case "ds64": long = head.number(offset + 16, 8)
            case "data":
                let size = size == 0xFFFF_FFFF ? long : size < 0x7FFF_0000 ? size : nil
                return size.map { StatedSound(offset: offset + 8, size: $0, blockAlign: blockAlign) }
            default: break
            }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// AIFF and AIFF-C: the chunk of the samples begins with two numbers.
    private static func form(_ head: Head) -> StatedSound? {
        var offset = 12
        for _ in 0..<mostChunks {
            guard let size = head.number(offset + 4, 4) else { return nil }
            if head.name(offset) == "SSND" {
                return size < 0x7FFF_0000 ? StatedSound(offset: offset + 16, size: size - 8) : nil
            }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// Sony's Wave64: names have 16 bytes, and sizes include the chunk's header.
    private static func wave64(_ head: Head) -> StatedSound? {
        var offset = 40
        for _ in 0..<mostChunks {
            guard let size = head.number(offset + 16, 8), size >= 24 else { return nil }
            if head.name(offset) == "data" { return StatedSound(offset: offset + 24, size: size - 24) }
            let (next, isTooFar) = offset.addingReportingOverflow((size + 7) / 8 * 8)
            guard !isTooFar else { return nil }
            offset = next
        }
        return nil
    }

    /// Apple's Core Audio Format; the samples follow an edit count.
    private static func caf(_ head: Head) -> StatedSound? {
        var offset = 8
        for _ in 0..<mostChunks {
            guard let size = head.number(offset + 4, 8) else { return nil }
            if head.name(offset) == "data" { return StatedSound(offset: offset + 16, size: size - 4) }
            let (next, isTooFar) = (offset + 12).addingReportingOverflow(size)
            guard !isTooFar else { return nil }
            offset = next
        }
        return nil
    }

    /// Sun's and NeXT's audio format.
    private static func au(_ head: Head) -> StatedSound? {
        guard let offset = head.number(4, 4), let size = head.number(8, 4), size < 0x7FFF_0000 else { return nil }
        return StatedSound(offset: offset, size: size)
    }
}

/// Reads numbers and names at offsets in a file.
private struct Head {
    let file: MediaFile
    let isBigEndian: Bool

    init(_ file: MediaFile, isBigEndian: Bool = false) {
        self.file = file
        self.isBigEndian = isBigEndian
    }

    func bytes(_ offset: Int, _ count: Int) -> [UInt8] { file.bytes(at: offset, count: count) }

    func name(_ offset: Int) -> String { String(decoding: bytes(offset, 4), as: UTF8.self) }

    /// Returns the number, or nil past the end of the file, or if it is negative or larger than any file.
    func number(_ offset: Int, _ count: Int) -> Int? {
        guard offset >= 0, offset < file.size else { return nil }
        let bytes = bytes(offset, count)
        guard bytes.count == count else { return nil }
        let value = (isBigEndian ? bytes : bytes.reversed()).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value < 1 << 60 ? Int(value) : nil
    }
}
