import FoundationEssentials

extension Digest {
    /// Returns the SHA-256 digest of `content`.
    static func bytes(_ content: Data) -> Data {
        Data(content.withUnsafeBytes { SHA256.digest($0) })
    }
}
