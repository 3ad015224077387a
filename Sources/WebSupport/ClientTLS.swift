import FoundationEssentials
package import NIOSSL

extension TLSConfiguration {
    /// Creates the configuration for a client: at least TLS 1.2, with the trusted certificates of this machine, or
    /// those in the file that the environment variable `SSL_CERT_FILE` names.
    package static func client() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let file = ownCertificates { configuration.trustRoots = .file(file) }
        return configuration
    }
}

/// The value of `SSL_CERT_FILE`; `nil` if it is unset or empty.
private var ownCertificates: String? {
    ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
}

/// Returns why TLS refused or ended a connection, in a few words; `nil` if `error` is not from TLS.
package func tlsProblem(_ error: any Error) -> String? {
    switch error {
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        return "the certificate is for another host name"
    case NIOSSLError.handshakeFailed(let reason):
        return opensslReason("\(reason)") ?? "the server aborted the handshake"
    case NIOSSLError.noSuchFilesystemObject, NIOSSLError.failedToLoadCertificate,
        BoringSSLError.unknownError:
        guard let ownCertificates else { return "cannot read the trusted certificates of this machine" }
        return "SSL_CERT_FILE does not name a certificate file: \(ownCertificates)"
    default:
        return opensslReason("\(error)")
    }
}

/// Extracts the reason from a BoringSSL message, which also contains source file names: the word after
/// `OPENSSL_internal:`.
private func opensslReason(_ text: String) -> String? {
    guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return nil }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }.replacing("_", with: " ")
    return words.lowercased()
}
