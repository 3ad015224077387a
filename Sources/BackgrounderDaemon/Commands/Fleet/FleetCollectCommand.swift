import ArgumentParser
import BackgrounderAPI
import FleetCollector
import FoundationEssentials
import Glibc
import Logging
import MQTTClient
import ServiceLifecycle
import SystemSupport
import WebSupport

/// `backgrounderd fleet-collect`: stores the points of a fleet in PostgreSQL until it is ended.
struct FleetCollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-collect",
        abstract: "Store the points of a fleet in PostgreSQL, until SIGTERM or Control-C.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder fleet collect --mqtt <url> --postgres <url> [<options>]" : nil,
        discussion: """
            It creates its tables, for which the extension postgis must be installed. The broker keeps the messages \
            while the collector or the database is away, as long as its own limits allow. Collectors with the same \
            --share and different names divide the messages.

            EXAMPLES
              backgrounder fleet collect --mqtt mqtt://localhost \\
                --postgres postgres://localhost/fleet
              backgrounder fleet collect --mqtt mqtts://broker.example \\
                --credentials ~/.mqtt --share office --name office-1 \\
                --postgres postgres://localhost/fleet --metrics 127.0.0.1:9464
            """
    )

    @Option(help: ArgumentHelp("Broker: mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
    var mqtt: String
    @Option(help: ArgumentHelp("Database: postgres://[user@]host[:port]/database.", valueName: "url"))
    var postgres: String
    @Option(help: ArgumentHelp("Durable client id (default backgrounder-collector).", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("Divide the messages with the collectors of this group.", valueName: "group"))
    var share: String?
    @Option(help: ArgumentHelp("Serve metrics for Prometheus here, such as 127.0.0.1:9464.", valueName: "address"))
    var metrics: String?
    @OptionGroup var login: BrokerLogin

    func validate() throws {
        do { _ = try BrokerAddress(mqtt) } catch { throw ValidationError("\(error)") }
        for (option, text) in [("--name", name), ("--share", share)] {
            guard let text else { continue }
            guard (try? MachineID(text)) != nil else {
                throw ValidationError(
                    "\(option) \(text.debugDescription) is not valid; use 1 to 64 of the characters a-z, 0-9, _ and -"
                )
            }
        }
        if let metrics, ListenAddress(metrics) == nil {
            throw ValidationError("--metrics \(metrics.debugDescription) is not an address; use HOST:PORT")
        }
    }

    func run() async throws {
        let logger = Logger(label: "collector") { _ in StandardErrorLog() }
        do {
            let collector = try FleetCollector(
                try BrokerAddress(mqtt),
                credentials: login.credentialsPath,
                certificate: login.clientCertificate,
                name: name ?? "backgrounder-collector",
                share: share,
                database: postgres,
                logger: logger
            )
            // A database that is away may come back, and a wrong address or a missing right will not.
            do { try await collector.prepare() } catch let error as PostgresError {
                guard case .connection = error else { throw error }
                logger.warning("\(error.description.withoutControlCharacters); retrying")
            }
            var services: [any Service] = [collector]
            if let address = metrics.flatMap({ ListenAddress($0) }) {
                services.append(try await MetricsServer(address) { collector.counts.metrics })
            }
            let group = ServiceGroup(
                configuration: .init(services: services, logger: Logger(label: "") { _ in SwiftLogNoOpLogHandler() })
            )
            let signals = Signals([SIGTERM, SIGINT]) { _ in Task { await group.triggerGracefulShutdown() } }
            try await group.run()
            withExtendedLifetime(signals) {}
        } catch {
            DaemonCommand.fail("\(error)".withoutControlCharacters)
        }
        Glibc.exit(0)
    }
}

extension FleetCollector.Counts {
    /// The counts in Prometheus' text format.
    fileprivate var metrics: String {
        var text = MetricsText()
        text.add(
            "backgrounder_collector_points_total",
            .counter,
            "Points that arrived.",
            [.init(["result": "stored"], stored), .init(["result": "duplicate"], duplicates)]
        )
        text.add(
            "backgrounder_collector_invalid_messages_total",
            .counter,
            "Messages that are neither points nor reports.",
            Double(invalid)
        )
        text.add("backgrounder_collector_batches_total", .counter, "Transactions of the database.", Double(batches))
        if let lag {
            text.add(
                "backgrounder_collector_lag_seconds",
                .gauge,
                "From the recording of the newest point of the last batch until it was stored.",
                lag
            )
        }
        text.add(
            "backgrounder_collector_up",
            .gauge,
            "Whether the broker and the database are connected.",
            [
                .init(["peer": "broker"], isBrokerConnected ? 1 : 0),
                .init(["peer": "database"], isDatabaseConnected ? 1 : 0),
            ]
        )
        return text.text
    }
}

/// Writes log lines to stderr, in the form of the service's log.
private struct StandardErrorLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        StandardError.writeLine("\(ISO8601.string(Date())) \(event.level.rawValue) \(event.message)")
    }
}
