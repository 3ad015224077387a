import BackgrounderAPI
import FoundationEssentials
import Glibc
import MapArchive
import NIOSSL
import Synchronization
import SystemSupport

/// The checks of what the live page needs.
struct PageChecks {
    /// Days before the end of a certificate from which on it should be renewed.
    private static let renewal = 14

    let configuration: DaemonConfiguration

    func checks() async -> [DoctorReport.Check] {
        var checks: [DoctorReport.Check] = []
        if let certificate = certificate() { checks.append(certificate) }
        if let map = await map() { checks.append(map) }
        return checks
    }

    private func certificate() -> DoctorReport.Check? {
        let remedy = "renew the certificate, then restart the service"
        do throws(StartError) {
            guard !(try configuration.pageAddresses()).isEmpty else { return nil }
        } catch {
            let remedy = "correct the file or its key in the configuration"
            return .init("page", failure: error.description, otherwise: remedy)
        }
        guard let path = configuration.value(Keys.webCertificate),
            let certificate = try? NIOSSLCertificate.fromPEMFile(path).first
        else { return nil }
        let end = Date(timeIntervalSince1970: Double(certificate.notValidAfter))
        let days = Int((end.timeIntervalSinceNow / 86_400).rounded(.down))
        guard days >= 0 else { return .init("page", false, "the certificate \(path) has expired", hint: remedy) }
        return .init(
            "page",
            days >= Self.renewal,
            "the certificate \(path) is valid for \(counted(days, "day"))",
            hint: remedy
        )
    }

    private func map() async -> DoctorReport.Check? {
        guard let path = configuration.value(Keys.webMap) else { return nil }
        let fault = Mutex<String?>(nil)
        let archive = MapArchive(path: path) { found in fault.withLock { $0 = found.description } }
        guard let description = await archive.description else {
            let text = fault.withLock { $0 } ?? "cannot use the map \(path)"
            return .init("page", false, text, hint: "name another file in \(Keys.webMap.name)")
        }
        return .init("page", true, "the map \(path), zoom levels \(description.minZoom) to \(description.maxZoom)")
    }
}
