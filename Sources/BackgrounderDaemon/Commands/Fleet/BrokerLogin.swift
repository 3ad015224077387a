import ArgumentParser
import MQTTClient
import SystemSupport

/// How a command of the fleet logs in at its broker.
struct BrokerLogin: ParsableArguments {
    @Option(help: ArgumentHelp("File with user and password for the broker.", valueName: "file"))
    var credentials: String?
    @Option(help: ArgumentHelp("Certificate for TLS, in PEM.", valueName: "file"))
    var certificate: String?
    @Option(help: ArgumentHelp("Key of the certificate.", valueName: "file"))
    var certificateKey: String?

    func validate() throws {
        guard (certificate == nil) == (certificateKey == nil) else {
            throw ValidationError("a certificate needs its key; use --certificate and --certificate-key together")
        }
    }

    /// The absolute path of the file with user and password.
    var credentialsPath: String? { credentials.map { RuntimePaths.absolute($0) } }

    var clientCertificate: ClientCertificate? {
        guard let certificate, let certificateKey else { return nil }
        return ClientCertificate(
            file: RuntimePaths.absolute(certificate),
            key: RuntimePaths.absolute(certificateKey)
        )
    }
}
