import COpenSSL

/// SHA-256, by libcrypto.
enum Digest {
    static func bytes(_ text: String) -> [UInt8] {
        var text = text
        var result = [UInt8](repeating: 0, count: 32)
        let isDone = text.withUTF8 {
            EVP_Digest($0.baseAddress, $0.count, &result, nil, EVP_sha256(), nil) == 1
        }
        precondition(isDone, "libcrypto has no SHA-256")
        return result
    }

    /// What stands for an entry that has neither an id nor a link, or an id that is too long.
    static func id(_ parts: [String]) -> String {
        // The lengths keep apart what ends in one part and what begins in the next.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return "sha256:" + bytes(text).prefix(16).map(hexadecimal).joined()
    }

    /// The first 64 bits.
    static func short(_ text: String) -> UInt64 {
        bytes(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return String([digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }
}
