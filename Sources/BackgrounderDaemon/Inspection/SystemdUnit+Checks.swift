import AudioPlayback
import BackgrounderAPI
import LocationUpdates
import MPDServer
import SystemSupport
import WebSupport

extension SystemdUnit {
    /// Returns one failed check for each restriction that contradicts the configuration; a passed one without any.
    func checks(_ configuration: DaemonConfiguration) -> [DoctorReport.Check] {
        let checks = network(configuration) + files(configuration) + group(configuration)
        return checks.isEmpty ? [.init("systemd unit", true, "restricts nothing that the configuration needs")] : checks
    }

    private func failure(_ message: String, add line: String) -> DoctorReport.Check {
        .init(
            "systemd unit",
            false,
            message,
            hint: "run `sudo systemctl edit backgrounder`, add \(line) below [Service], and restart the service"
        )
    }

    private func network(_ configuration: DaemonConfiguration) -> [DoctorReport.Check] {
        guard isLocal else { return [] }
        var checks: [DoctorReport.Check] = []
        if case .gpsd(let address) = configuration.value(Keys.source), !address.isLoopback,
            configuration.locationOffReason == nil
        {
            checks.append(
                failure(
                    "gpsd is on \(address.host), and the unit allows connections to this machine only",
                    add: "IPAddressAllow=\(address.host)"
                )
            )
        }
        let modes = configuration.value(Keys.modes)
        let users = [
            ("fetches", modes.contains(.fetch)), ("pushes", modes.contains(.remoteNotification)),
            ("transfers", !configuration.value(Keys.transferRoots).isEmpty),
            ("publishers", configuration.declarations.publishers.contains { !Self.isLocal($0) }),
        ].filter(\.1).map(\.0)
        if !users.isEmpty {
            checks.append(
                failure(
                    "\(users.joined(separator: ", ")) need the network, and the unit allows connections to this machine only",
                    add: "IPAddressAllow=any"
                )
            )
        }
        for (clients, key) in [("MPD clients", Keys.mpdListen), ("browsers", Keys.webListen)] {
            guard let address = configuration.value(key).first(where: { !$0.isLoopback }) else { continue }
            checks.append(
                failure(
                    "\(clients) of other machines may use \(address), and the unit allows connections to this machine only",
                    add: "IPAddressAllow= with their network"
                )
            )
        }
        return checks
    }

    /// Whether the broker or the server of a publisher is on this machine.
    private static func isLocal(_ publisher: PublisherRequest) -> Bool {
        switch try? PublisherAddress(publisher.url) {
        case .broker(let address)?:
            let host = address.host
            return ListenAddress(host.contains(":") ? "[\(host)]:1" : "\(host):1")?.isLoopback ?? false
        case .server(let url)?: return (try? WebURL(url))?.origin.isLoopback ?? false
        case nil: return false
        }
    }

    private func files(_ configuration: DaemonConfiguration) -> [DoctorReport.Check] {
        let files = configuration.value(Keys.queue).filter { !StreamAddress.isAddress($0) }
        let music = files + (configuration.value(Keys.musicDirectory).map { [$0] } ?? [])
        let written =
            configuration.value(Keys.transferRoots) + (configuration.value(Keys.driver).file.map { [$0] } ?? [])
            + (configuration.value(Keys.metricsTextfile).map { [splitPath($0).folder] } ?? [])
        return Self.distinct(music).filter(hides).map {
            failure("the unit hides \($0)", add: "BindReadOnlyPaths=\($0)")
        }
            + Self.distinct(written).filter { hides($0) || protects($0) }.map { path in
                hides(path)
                    ? failure("the unit hides \(path)", add: "BindPaths=\(path)")
                    : failure("the unit makes \(path) read-only", add: "ReadWritePaths=\(path)")
            }
    }

    private func group(_ configuration: DaemonConfiguration) -> [DoctorReport.Check] {
        guard let group = configuration.value(Keys.controlGroup), !admits(group: group) else { return [] }
        return [
            failure(
                "the unit cannot give its sockets to the group \(group)",
                add: "PrivateUsers=no and SupplementaryGroups=\(group)"
            )
        ]
    }

    private static func distinct(_ paths: [String]) -> [String] {
        paths.enumerated().filter { index, path in !paths[..<index].contains(path) }.map(\.1)
    }
}
