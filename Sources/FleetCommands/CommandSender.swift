package import BackgrounderAPI
import FoundationEssentials
package import MQTTClient
import Synchronization
import SystemSupport

/// Sends a command to machines, and reports their replies.
package struct CommandSender: Sendable {
    private let options: MQTTOptions
    private let clock: any Clock<Duration>
    /// The numbers with 11 digits to the base of 36.
    private static let elevenDigits: Range<UInt64> = 3_656_158_440_062_976..<131_621_703_842_267_136

    /// Creates a sender that connects to a broker for each command.
    package init(
        _ address: BrokerAddress,
        credentials: String? = nil,
        certificate: ClientCertificate? = nil,
        clock: any Clock<Duration>
    ) {
        options = MQTTOptions(
            address: address,
            credentials: credentials,
            certificate: certificate,
            // 23 letters and digits, the form that every broker accepts (MQTT 3.1.1, 3.1.3.1).
            clientID: "backgrounder" + String(UInt64.random(in: Self.elevenDigits), radix: 36),
            isDurable: false,
            isPatient: false
        )
        self.clock = clock
    }

    /// Sends a command and collects replies for a while.
    ///
    /// The wait ends when each machine has replied that the command is done, refused or expired. Without `wait`, it ends when the
    /// broker has the command.
    ///
    /// - Parameters:
    ///   - content: the command, perhaps with a signature.
    ///   - onReply: called with each reply, in order.
    /// - Returns: the last reply of each machine; `nil` for those that stayed silent.
    /// - Throws: ``MQTTFailure`` if the broker cannot be reached, or refuses.
    package func send(
        _ command: FleetCommand,
        content: [UInt8],
        wait: Duration?,
        onReply: @escaping @Sendable (CommandReply) -> Void
    ) async throws -> [MachineID: CommandReply?] {
        let tally = ReplyTally(command)
        var options = options
        if wait != nil { options.topics = try tally.replyTopics.map { try TopicFilter($0) } }
        let steps = AsyncStream.makeStream(of: Step.self)
        let outbox = OneTimeOutbox(tally.topics.map { MQTTPublication(topic: $0, payload: content, tag: 1) }) {
            steps.continuation.yield(.sent)
        }
        let session = try MQTTSession(options, thread: "fleet", outbox: outbox) { message in
            steps.continuation.yield(.message(message))
            return nil
        } report: { report in
            switch report {
            case .connected(nil): break
            case .connected(let topic?): steps.continuation.yield(.failed(.refusedTopic(topic)))
            case .failed(let failure): steps.continuation.yield(.failed(failure))
            }
        }
        defer { session.end() }
        let timer = Task { [clock] in
            // Tuned: an unreachable broker reports itself earlier.
            try? await clock.sleep(for: wait ?? .seconds(60))
            steps.continuation.finish()
        }
        defer { timer.cancel() }
        var replies = tally
        var isSent = false
        for await step in steps.stream {
            switch step {
            case .failed(let failure): throw failure
            case .sent: isSent = true
            case .message(let message):
                if let reply = replies.note(message) { onReply(reply) }
            }
            if isSent, wait == nil || replies.isComplete { break }
        }
        guard isSent else { throw MQTTFailure.silent }
        return replies.last
    }

    private enum Step: Sendable {
        case sent
        case message(MQTTMessage)
        case failed(MQTTFailure)
    }
}

/// The replies to one command.
private struct ReplyTally: Sendable {
    private let command: FleetCommand
    private(set) var last: [MachineID: CommandReply?] = [:]

    init(_ command: FleetCommand) {
        self.command = command
        if case .machines(let ids) = command.address { for id in ids { last.updateValue(nil, forKey: id) } }
    }

    /// The topics of the command.
    var topics: [String] {
        switch command.address {
        case .group(let group): [FleetTopics.commands(toGroup: group)]
        default: last.keys.sorted { $0.description < $1.description }.map { FleetTopics.commands(to: $0) }
        }
    }

    var replyTopics: [String] {
        switch command.address {
        // The status documents say which machines belong to the group.
        case .group: [FleetTopics.allReplies, FleetTopics.allStatuses]
        default: last.keys.map { FleetTopics.replies(of: $0) }
        }
    }

    /// Whether no further replies are expected; of a group, some machines may be unknown.
    var isComplete: Bool {
        guard case .machines = command.address else { return false }
        return last.values.allSatisfy { reply in
            guard let reply else { return false }
            return reply.result != .accepted
        }
    }

    /// Notes a message. Returns a reply to the command.
    mutating func note(_ message: MQTTMessage) -> CommandReply? {
        guard let payload = message.payload.map({ Data($0) }) else { return nil }
        if let reply = try? JSONDecoder().decode(CommandReply.self, from: payload) {
            // Only the machine itself may write to its topics.
            guard reply.id == command.id, let id = try? MachineID(reply.machine),
                message.topic == FleetTopics.replies(of: id)
            else { return nil }
            if case .machines = command.address, last[id] == nil { return nil }
            last.updateValue(reply, forKey: id)
            return reply
        }
        if case .group(let group) = command.address,
            let report = try? JSONDecoder().decode(MachineReport.self, from: payload),
            report.groups?.contains(group.description) == true, let id = try? MachineID(report.machine),
            message.topic == FleetTopics.status(of: id), last[id] == nil
        {
            last.updateValue(nil, forKey: id)
        }
        return nil
    }
}
