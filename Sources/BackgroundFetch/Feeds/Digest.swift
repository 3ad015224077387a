/// SHA-256 digests, whole or shortened, by which a text or content is recognised later.
enum Digest {
    /// Returns the 32 bytes of the digest of `text`.
    static func bytes(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { SHA256.digest(UnsafeRawBufferPointer($0)) }
    }

    /// Returns an id for an entry that has neither an id nor a link, or whose id is too long: `sha256:` and 128 bits in
    /// hexadecimal.
    static func id(_ parts: [String]) -> String {
        // The lengths make ["ab", "c"] differ from ["a", "bc"].
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return "sha256:" + SHA256.hexadecimal(bytes(text).prefix(16))
    }

    /// Returns the first 64 bits of the digest of `text`.
    static func short(_ text: String) -> UInt64 {
        bytes(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
