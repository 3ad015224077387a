import ControlServer
import NIOSSL
import SystemSupport

extension DaemonConfiguration {
    /// Returns the addresses of `web.listen`, with the certificate and its key.
    ///
    /// - Throws: ``StartError`` if the certificate or the key cannot be used.
    func pageAddresses() throws(StartError) -> [PageAddress] {
        let addresses = value(Keys.webListen)
        guard !addresses.isEmpty else { return [] }
        let (tls, hosts) = (try pageCertificate(), value(Keys.webHosts))
        return addresses.map { PageAddress(host: $0.host, port: $0.port, hosts: hosts, tls: tls) }
    }

    private func pageCertificate() throws(StartError) -> TLSConfiguration {
        func file(_ key: ConfigurationKey<String?>) throws(StartError) -> String {
            guard let path = value(key) else { throw StartError("\(key.name) is missing") }
            return path
        }
        let certificate = try file(Keys.webCertificate)
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw StartError("\(Keys.webCertificate.name): cannot read a certificate from \(certificate): \(error)")
        }
        let path = try file(Keys.webKey)
        do {
            let key = try NIOSSLPrivateKey(file: path, format: .pem)
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            tls.minimumTLSVersion = .tlsv12
            // Fails now, and not for each connection, if the key does not belong to the certificate.
            _ = try NIOSSLContext(configuration: tls)
            return tls
        } catch {
            throw StartError("\(Keys.webKey.name): cannot use \(path) as the key of \(certificate): \(error)")
        }
    }
}
