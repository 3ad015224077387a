/// Identifies content that is not a feed.
enum FeedSniffer {
    /// The first bytes of other formats, and their names as in "not a feed but a PDF file".
    private static let magic: [(bytes: [UInt8], name: String)] = [
        ([0x1F, 0x8B], "gzip data"), ([0x50, 0x4B, 0x03, 0x04], "a zip archive"),
        (Array("%PDF-".utf8), "a PDF file"),
        ([0x89, 0x50, 0x4E, 0x47], "a PNG image"), ([0xFF, 0xD8, 0xFF], "a JPEG image"),
        (Array("GIF8".utf8), "a GIF image"), (Array("RIFF".utf8), "a RIFF file"),
        (Array("ID3".utf8), "an MP3 file"),
        (Array("OggS".utf8), "an Ogg file"), (Array("fLaC".utf8), "a FLAC file"),
        ([0x28, 0xB5, 0x2F, 0xFD], "zstd data"), ([0x7F, 0x45, 0x4C, 0x46], "an ELF file"),
    ]

    /// Returns the name of the binary format of `bytes`, or `nil` if it is unknown.
    static func binary(_ bytes: [UInt8]) -> String? {
        magic.first { bytes.starts(with: $0.bytes) }?.name
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Whether the first KiB contains no control characters except whitespace and escape.
    static func isText(_ content: ArraySlice<UInt8>) -> Bool {
        content.prefix(1024).allSatisfy { $0 >= 0x20 || isBlank($0) || $0 == 0x1B }
    }

    static func isHTML(_ content: ArraySlice<UInt8>) -> Bool {
        let start = lowercased(content.prefix(64))
        return ["<html", "<!doctype html", "<head", "<body", "<script"].contains {
            start.starts(with: $0.utf8)
        }
    }

    /// Returns the URL of the first feed that an HTML page links to with `<link rel="alternate">`.
    static func namedFeed(_ page: ArraySlice<UInt8>, base: String?) -> String? {
        var rest = page.prefix(65_536)
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(open + 1)...]
            guard lowercased(rest.prefix(5)).starts(with: "link".utf8) else { continue }
            guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = String(decoding: rest[..<close], as: UTF8.self)
            rest = rest[close...]
            let words = tag.lowercased()
            guard words.contains("alternate"),
                ["application/rss+xml", "application/atom+xml", "application/feed+json"].contains(
                    where: words.contains
                )
            else { continue }
            return attribute("href", of: tag).flatMap {
                FeedAddress.resolve(FeedText.decodingEntities($0), base: base)
            }
        }
        return nil
    }

    private static func attribute(_ name: String, of tag: String) -> String? {
        let bytes = Array(tag.utf8)
        let (words, key) = (lowercased(bytes[...]), Array("\(name)=".utf8))
        guard
            let start = words.indices.dropFirst().first(where: {
                isBlank(words[$0 - 1]) && words[$0...].starts(with: key)
            })
        else { return nil }
        let value = tag.utf8.dropFirst(start + key.count)
        let quote =
            value.first == UInt8(ascii: "\"") || value.first == UInt8(ascii: "'") ? value.first : nil
        let text =
            quote.map { quote in value.dropFirst().prefix { $0 != quote } }
            ?? value.prefix { !isBlank($0) }
        return String(Substring(text))
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }
}
