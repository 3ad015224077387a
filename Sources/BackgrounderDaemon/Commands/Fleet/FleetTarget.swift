import ArgumentParser
import BackgrounderAPI
import FleetCommands
import FoundationEssentials
import Glibc
import MQTTClient
import SystemSupport
import WebSupport

/// The broker, the machines and the times of a command to a fleet.
struct FleetTarget: ParsableArguments {
    @Option(help: ArgumentHelp("Broker: mqtt://host[:port], or mqtts:// for TLS.", valueName: "url"))
    var broker: String
    @Option(help: ArgumentHelp("Ids of machines, separated by commas.", valueName: "id,..."))
    var to: String?
    @Option(help: ArgumentHelp("All machines of this group instead.", valueName: "name"))
    var group: String?
    @Option(help: ArgumentHelp("Expire this long after now or --at (default 60s).", valueName: "duration"))
    var expires: String?
    @Option(help: ArgumentHelp("Wait this long; exit 1 if a machine refuses or is silent.", valueName: "duration"))
    var wait: String?
    @OptionGroup var login: BrokerLogin
    @Option(help: ArgumentHelp("Sign with this private Ed25519 key, in PEM.", valueName: "file"))
    var key: String?
    @Option(help: "Output format: table for people, json for scripts (default table).")
    var format: OutputFormat?

    func validate() throws {
        _ = try address()
        _ = try brokerAddress()
        _ = try duration(expires, "--expires", default: 60)
        if let wait { _ = try duration(wait, "--wait", default: 0) }
    }

    private func brokerAddress() throws(ValidationError) -> BrokerAddress {
        do { return try BrokerAddress(broker) } catch { throw ValidationError(error.description) }
    }

    private func address() throws(ValidationError) -> FleetCommand.Address {
        func id(_ text: some StringProtocol) throws(ValidationError) -> MachineID {
            do { return try MachineID(String(text)) } catch { throw ValidationError(error.description) }
        }
        switch (to, group) {
        case (let to?, nil):
            var ids: [MachineID] = []
            for text in to.split(separator: ",", omittingEmptySubsequences: false) {
                let id = try id(text.trimmingPrefix { $0 == " " })
                if !ids.contains(id) { ids.append(id) }
            }
            return .machines(ids)
        case (nil, let group?): return .group(try id(group))
        case (nil, nil): throw ValidationError("no machines; name them with --to ID,... or --group NAME")
        case (_?, _?): throw ValidationError("--to and --group exclude each other; use one of them")
        }
    }

    private func duration(_ text: String?, _ option: String, default seconds: Double) throws -> Duration {
        guard let text else { return .seconds(seconds) }
        guard let duration = Durations.duration(text), duration > .zero, duration <= .seconds(7 * 86_400) else {
            throw ValidationError(
                "\(option) \(text) is not a valid duration; use one such as 10s, 5m or 1h, at most 7d"
            )
        }
        return duration
    }

    /// Sends an order, prints the replies, and ends the process with the exit code.
    ///
    /// - Parameter time: when to execute it; `nil` for immediately.
    func send(_ order: FleetCommand.Order, at time: Date? = nil) async throws -> Never {
        let life = try duration(expires, "--expires", default: 60).seconds
        let command = FleetCommand(
            order,
            expires: max(Date(), time ?? .distantPast).addingTimeInterval(life),
            at: time,
            to: try address()
        )
        let printer = ReplyPrinter(isTable: format != .json)
        do {
            let content = try key.map { try command.content(signedWith: SigningKey(path: RuntimePaths.absolute($0))) }
            let sender = CommandSender(
                try brokerAddress(),
                credentials: login.credentialsPath,
                certificate: login.clientCertificate,
                clock: EventLoopClock.shared
            )
            let replies = try await sender.send(
                command,
                content: content ?? command.content,
                wait: wait.map { try duration($0, "--wait", default: 0) },
                onReply: { if $0.result != .accepted { printer.show($0) } }
            )
            if wait == nil {
                try printer.note("sent \(command.id) to \(describe(command))")
                Glibc.exit(0)
            }
            Glibc.exit(try printer.end(replies, of: command) ? 0 : 1)
        } catch let error as MQTTFailure {
            DaemonCommand.fail("\(error) (\(broker))")
        } catch let error as CredentialsError {
            if case .missing = error { DaemonCommand.fail(error.description, code: DaemonCommand.noSuchItem) }
            DaemonCommand.fail(error.description)
        } catch let error as OutputError {
            DaemonCommand.fail(error)
        } catch {
            DaemonCommand.fail("\(error)")
        }
    }

    private func describe(_ command: FleetCommand) -> String {
        switch command.address {
        case .group(let group)?: "the group \(group)"
        case .machines(let ids)?: ids.map(\.description).joined(separator: ", ")
        case nil: ""
        }
    }
}

/// Prints the replies of machines: lines for people while they arrive, or one JSON array at the end.
private struct ReplyPrinter: Sendable {
    let isTable: Bool

    /// Prints a last reply.
    func show(_ reply: CommandReply) {
        // If stdout is closed, the exit code still says what happened.
        if isTable { try? StandardOutput.write(reply.line + "\n") }
    }

    func note(_ text: String) throws {
        try StandardOutput.write(isTable ? text + "\n" : "[]\n")
    }

    /// Prints what is left to say. Returns whether all machines accepted the command.
    func end(_ replies: [MachineID: CommandReply?], of command: FleetCommand) throws -> Bool {
        let all = replies.sorted { $0.key.description < $1.key.description }
        if isTable {
            for (machine, reply) in all where reply == nil || reply?.result == .accepted {
                try StandardOutput.write((reply?.line ?? "\(machine): silent") + "\n")
            }
            if all.isEmpty { try StandardOutput.write("no machine replied\n") }
        } else {
            try StandardOutput.write(try JSON.line(all.compactMap(\.value)) + "\n")
        }
        return !all.isEmpty
            && all.allSatisfy { _, reply in reply?.result == .done || reply?.result == .accepted }
    }
}

extension CommandReply {
    /// Such as `bus12: refused: no item doors.wav`.
    fileprivate var line: String {
        "\(machine): \(result.rawValue)\(reason.map { ": \($0)" } ?? "")".withoutControlCharacters
    }
}
