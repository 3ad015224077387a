package import FoundationEssentials

/// SHA-256 digests, whole or shortened, by which a text or content is recognised later.
package enum Digest {
    /// Returns the 32 bytes of the digest of `text`.
    package static func bytes(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { SHA256.digest(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the 32 bytes of the digest of `content`.
    package static func bytes(_ content: Data) -> Data {
        Data(content.withUnsafeBytes { SHA256.digest($0) })
    }

    /// Returns an id for an entry that has neither an id nor a link, or whose id is too long: `sha256:` and 128 bits in
    /// hexadecimal.
    package static func id(_ parts: [String]) -> String {
        // The lengths make ["ab", "c"] differ from ["a", "bc"].
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return "sha256:" + SHA256.hexadecimal(bytes(text).prefix(16))
    }

    /// Returns the first 64 bits of the digest of `text`.
    package static func short(_ text: String) -> UInt64 {
        bytes(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
