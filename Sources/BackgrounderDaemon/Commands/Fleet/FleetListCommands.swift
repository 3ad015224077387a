import ArgumentParser
import BackgrounderAPI
import FleetCollector
import FoundationEssentials
import Glibc
import MQTTClient
import SystemSupport

/// Where the machines of a fleet are looked up.
struct FleetSource: ParsableArguments {
    @Option(help: ArgumentHelp("Ask this broker: mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
    var broker: String?
    @Option(help: ArgumentHelp("Ask the collector's database: postgres://[user@]host/database.", valueName: "url"))
    var postgres: String?
    @OptionGroup var login: BrokerLogin
    @Option(help: "Output format: table for people, json for scripts (default table).")
    var format: OutputFormat?

    func validate() throws {
        switch (broker, postgres) {
        case (let broker?, nil):
            do { _ = try BrokerAddress(broker) } catch { throw ValidationError("\(error)") }
        case (nil, _?): break
        case (nil, nil): throw ValidationError("name a broker or a database; use --broker URL or --postgres URL")
        case (_?, _?): throw ValidationError("--broker and --postgres exclude each other; use one of them")
        }
    }

    /// Returns all machines or one, or ends the process with an error.
    func machines(_ machine: MachineID? = nil) async -> [FleetMachine] {
        do {
            if let postgres {
                return try await QueueExecutor("backgrounder.fleet").run {
                    try FleetReader.machines(machine?.description, at: postgres)
                }
            }
            let reader = try FleetBrokerReader(
                try BrokerAddress(broker ?? ""),
                machine: machine,
                credentials: login.credentialsPath,
                certificate: login.clientCertificate,
                clock: EventLoopClock.shared
            )
            return try await reader.machines()
        } catch {
            DaemonCommand.fail("\(error)".withoutControlCharacters)
        }
    }

    func show(_ value: some Encodable, _ text: () -> String) {
        do {
            try StandardOutput.write((format == .json ? try JSON.line(value) : text()) + "\n")
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        } catch {
            DaemonCommand.fail("\(error)")
        }
        Glibc.exit(0)
    }
}

/// `backgrounderd fleet-list`: lists the machines of a fleet.
struct FleetListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-list",
        abstract: "List the machines of a fleet.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder fleet list (--broker <url> | --postgres <url>) [<options>]" : nil,
        discussion: """
            A broker knows the newest messages of each machine, a collector's database all positions.

            EXAMPLES
              backgrounder fleet list --broker mqtts://broker.example
              backgrounder fleet list --postgres postgres://localhost/fleet --format json
            """
    )

    @OptionGroup var source: FleetSource

    func run() async throws {
        let machines = await source.machines()
        source.show(machines) {
            guard !machines.isEmpty else { return "No machines." }
            var table = Table([
                ("MACHINE", .left), ("STATE", .left), ("POSITION", .left), ("TIME", .time), ("BACKLOG", .right),
                ("AUDIO", .left), ("HEALTH", .left), ("VERSION", .left), ("GROUPS", .left),
            ])
            for machine in machines {
                let status = machine.status
                table.add([
                    machine.machine, machine.state ?? "", machine.position ?? "",
                    machine.time.map { ISO8601.string($0) } ?? "", status?.backlog.map(String.init) ?? "",
                    status?.audio?.state ?? "", status?.health ?? "", status?.version ?? "",
                    status?.groups?.joined(separator: ",") ?? "",
                ])
            }
            return table.render()
        }
    }
}

/// `backgrounderd fleet-show`: shows one machine of a fleet.
struct FleetShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-show",
        abstract: "Show one machine of a fleet.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder fleet show <id> (--broker <url> | --postgres <url>) [<options>]" : nil,
        discussion: """
            EXAMPLES
              backgrounder fleet show bus12 --broker mqtts://broker.example
              backgrounder fleet show bus12 --postgres postgres://localhost/fleet
            """
    )

    @Argument(help: ArgumentHelp("Id of the machine.", valueName: "id"))
    var id: String
    @OptionGroup var source: FleetSource

    func validate() throws {
        do { _ = try MachineID(id) } catch { throw ValidationError("\(error)") }
    }

    func run() async throws {
        guard let machine = await source.machines(try MachineID(id)).first else {
            DaemonCommand.fail("no machine \(id); `backgrounder fleet list` lists them", code: DaemonCommand.noSuchItem)
        }
        source.show(machine) { machine.details }
    }
}

extension FleetMachine {
    fileprivate var position: String? {
        guard let latitude, let longitude else { return nil }
        return "\(latitude.decimals(5)),\(longitude.decimals(5))"
    }

    fileprivate var details: String {
        let place = position.map { position in
            "\(position)\(accuracy.map { " +/- \($0.decimals(0)) m" } ?? "")\(time.map { " at \(ISO8601.string($0))" } ?? "")"
        }
        let sound = status?.audio.map { audio in
            [audio.state, audio.title, audio.volume.map { "volume \($0)" }, audio.error].compactMap(\.self)
                .joined(separator: ", ")
        }
        let source = status?.location.map { location in
            [location.connection, location.quality, location.why].compactMap(\.self).joined(separator: ", ")
        }
        let lines: [(String, String?)] = [
            ("machine", machine), ("state", state), ("since", since.map { ISO8601.string($0) }), ("position", place),
            ("speed", speed.map { "\(($0 * 3.6).decimals(0)) km/h" }), ("points", points.map(String.init)),
            ("groups", status?.groups?.joined(separator: ", ")), ("version", status?.version), ("location", source),
            ("audio", sound), ("health", [status?.health, status?.problem].compactMap(\.self).joined(separator: ": ")),
            ("backlog", status?.backlog.map(String.init)), ("dropped", status?.dropped.map(String.init)),
        ]
        return lines.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : "\(name): \($0)" } }
            .map(\.withoutControlCharacters).joined(separator: "\n")
    }
}
