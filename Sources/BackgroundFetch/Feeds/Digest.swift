/// What is kept of a text or a content to know it again: its SHA-256, or a part of that.
enum Digest {
    static func bytes(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { SHA256.digest(UnsafeRawBufferPointer($0)) }
    }

    /// What stands for an entry that has neither an id nor a link, or an id that is too long.
    static func id(_ parts: [String]) -> String {
        // The lengths keep apart what ends in one part and what begins in the next.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return "sha256:" + SHA256.hexadecimal(bytes(text).prefix(16))
    }

    /// The first 64 bits.
    static func short(_ text: String) -> UInt64 {
        bytes(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
