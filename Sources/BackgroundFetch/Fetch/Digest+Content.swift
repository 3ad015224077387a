import COpenSSL
import FoundationEssentials

extension Digest {
    static func bytes(_ content: Data) -> Data {
        var result = Data(count: 32)
        let isDone = content.withUnsafeBytes { content in
            result.withUnsafeMutableBytes { result in
                EVP_Digest(
                    content.baseAddress,
                    content.count,
                    result.bindMemory(to: UInt8.self).baseAddress,
                    nil,
                    EVP_sha256(),
                    nil
                ) == 1
            }
        }
        precondition(isDone, "libcrypto has no SHA-256")
        return result
    }
}
