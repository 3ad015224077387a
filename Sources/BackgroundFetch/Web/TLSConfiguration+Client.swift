import FoundationEssentials
package import NIOSSL

extension TLSConfiguration {
    /// For asking others: whom this machine trusts, or the file of certificates that `SSL_CERT_FILE` names, as in other programs.
    package static func client(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let file = environment["SSL_CERT_FILE"], !file.isEmpty { configuration.trustRoots = .file(file) }
        return configuration
    }
}

/// Why TLS ended a connection, in a few words; `nil` where it was not TLS. Its own are some hundred, with the names of files in them.
func handshakeProblem(_ error: any Error) -> String? {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
        return "the certificate is for another name"
    }
    let text = "\(error)"
    guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return nil }
    let words = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }.replacing("_", with: " ")
    return words.lowercased()
}
