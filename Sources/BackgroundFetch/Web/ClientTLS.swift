import FoundationEssentials
package import NIOSSL

extension TLSConfiguration {
    /// For asking others: TLS 1.2 at least, and whom this machine trusts, or the file of certificates that `SSL_CERT_FILE` names, as
    /// in other programs.
    package static func client() -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let file = ownCertificates { configuration.trustRoots = .file(file) }
        return configuration
    }
}

private var ownCertificates: String? {
    ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
}

/// Why TLS let no connection come about, or ended one, in a few words; `nil` where it was not TLS.
func tlsProblem(_ error: any Error) -> String? {
    switch error {
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
        return "the certificate is for another name"
    case NIOSSLError.handshakeFailed(let reason):
        return opensslReason("\(reason)") ?? "the server broke it off"
    case NIOSSLError.noSuchFilesystemObject, NIOSSLError.failedToLoadCertificate,
        BoringSSLError.unknownError:
        guard let ownCertificates else { return "the certificates that this machine trusts cannot be read" }
        return "SSL_CERT_FILE names no file of certificates: \(ownCertificates)"
    default:
        return opensslReason("\(error)")
    }
}

/// Its own words are some hundred, with the names of files in them; what it is stands behind a mark.
private func opensslReason(_ text: String) -> String? {
    guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return nil }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }.replacing("_", with: " ")
    return words.lowercased()
}
