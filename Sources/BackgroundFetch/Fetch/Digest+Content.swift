import FoundationEssentials

extension Digest {
    static func bytes(_ content: Data) -> Data {
        Data(content.withUnsafeBytes { SHA256.digest($0) })
    }
}
