import COpenSSL
package import FoundationEssentials
import Glibc
package import WebSupport

/// A private Ed25519 key, which signs commands (RFC 8032). Use it from one thread at a time.
package final class SigningKey {
    private let key: OpaquePointer

    /// Reads a key in PEM, as `openssl genpkey -algorithm ed25519` writes it. Blocks on disk I/O.
    package init(path: String) throws(CredentialsError) {
        guard let text = try SecretFile.text(at: path, limit: KeyFile.limit),
            let key = KeyFile.read(text, { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) })
        else { throw .unreadable(path, "not a private Ed25519 key in PEM") }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// Returns the signature of 64 bytes.
    ///
    /// - Throws: ``SigningFailure``
    package func signature(of message: Data) throws -> Data {
        guard let context = EVP_MD_CTX_new() else { throw SigningFailure() }
        defer { EVP_MD_CTX_free(context) }
        var (signature, length) = ([UInt8](repeating: 0, count: 64), 64)
        let bytes = Array(message)
        guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            EVP_DigestSign(context, &signature, &length, bytes, bytes.count) == 1
        else { throw SigningFailure() }
        return Data(signature.prefix(length))
    }
}

/// A public Ed25519 key, which checks signatures of commands. Use it from one thread at a time.
package final class VerifyingKey {
    private let key: OpaquePointer

    /// Reads a key in PEM, as `openssl pkey -pubout` writes it. Blocks on disk I/O.
    package init(path: String) throws(CredentialsError) {
        guard let file = fopen(path, "re") else {
            throw errno == ENOENT ? .missing(path) : .unreadable(path, String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: KeyFile.limit)
        let count = fread(&bytes, 1, bytes.count, file)
        guard
            let key = KeyFile.read(
                String(decoding: bytes[..<count], as: UTF8.self),
                { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
            )
        else {
            throw .unreadable(path, "not a public Ed25519 key in PEM")
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// Returns whether this key's private one made the signature.
    package func accepts(_ signature: Data, of message: Data) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        let (signature, message) = (Array(signature), Array(message))
        return EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// The error for a signature that libcrypto could not make.
package struct SigningFailure: Error, CustomStringConvertible {
    package let description = "cannot sign the command; check the key"
}

private enum KeyFile {
    /// Tuned: a key has 120 bytes; comments may precede it.
    static let limit = 16 << 10

    static func read(_ text: String, _ parse: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        var text = text
        let parsed = text.withUTF8 { bytes -> OpaquePointer? in
            // The buffer is not copied.
            guard let buffer = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(buffer) }
            return parse(buffer)
        }
        guard let key = parsed else { return nil }
        guard EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
    }
}
