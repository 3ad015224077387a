package import BackgrounderAPI
package import FoundationEssentials
package import Logging
package import MQTTClient
import ServiceLifecycle
import SystemSupport
import WebSupport

/// Receives the commands of a fleet, executes each at most once, and replies.
///
/// A command is stored before it is acknowledged or executed. One that waits for its time survives a restart; one whose execution was
/// cut off is refused, since a part of it may have happened.
package actor CommandDesk: Service {
    private struct Waiting: Sendable {
        var command: FleetCommand
        var publisher: String
    }

    private let saved: [StoredCommand]
    private let journal: any CommandJournal
    private let keyFiles: @Sendable () async -> [String]
    private let workers: any CommandWorkers
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let reply: @Sendable (_ reply: StoredCommand) async -> Void
    private let waiting = AsyncStream.makeStream(of: Waiting.self)
    private let executor = QueueExecutor("backgrounder.commands")
    /// The last fault that was logged; a broker that repeats it must not fill the log.
    private var lastFault = ""

    /// - Parameters:
    ///   - saved: the commands that have not ended, or whose senders may not know it.
    ///   - keyFiles: the files with public keys; with one, each command needs a signature.
    ///   - reply: sends the state of a command to its sender.
    package init(
        saved: [StoredCommand],
        journal: any CommandJournal,
        keyFiles: @escaping @Sendable () async -> [String],
        workers: any CommandWorkers,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        logger: Logger,
        reply: @escaping @Sendable (StoredCommand) async -> Void
    ) {
        (self.saved, self.journal, self.keyFiles, self.workers) = (saved, journal, keyFiles, workers)
        (self.clock, self.now, self.logger, self.reply) = (clock, now, logger, reply)
    }

    /// Executes commands until the graceful shutdown.
    package func run() async throws {
        for stored in saved {
            guard stored.result == .accepted else {
                await reply(stored)
                continue
            }
            guard let command = try? FleetCommand(stored.content), !stored.hasBegun else {
                await end(stored, CommandEnd(.refused, "the service ended while the command was running"))
                continue
            }
            waiting.continuation.yield(Waiting(command: command, publisher: stored.publisher))
        }
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                for await item in waiting.stream where !Task.isShuttingDownGracefully {
                    if let time = item.command.at, time > now() {
                        group.addTask { await self.perform(item, at: time) }
                    } else if let rest = await begin(item) {
                        group.addTask { await self.end(item, rest()) }
                    }
                }
            } onGracefulShutdown: { [waiting] in
                waiting.continuation.finish()
            }
            group.cancelAll()
        }
    }

    // MARK: Receiving

    /// Receives a message of a publisher's broker. If this returns `nil`, the message may be acknowledged.
    package func receive(_ message: MQTTMessage, of publisher: StoredPublisher) async -> MQTTDeliveryFailure? {
        guard let content = message.payload else {
            note("the message is larger than \(MQTTLimits.payloadLimit) bytes", publisher)
            return nil
        }
        let command: FleetCommand
        do throws(CommandFault) {
            command = try FleetCommand(content)
        } catch {
            note(error.description, publisher)
            guard let id = error.id else { return nil }
            let refused = StoredCommand(id: id, publisher: publisher.name, content: [], expires: .distantPast)
            await reply(refused.ended(CommandEnd(.refused, error.description)))
            return nil
        }
        let stored = StoredCommand(
            id: command.id,
            publisher: publisher.name,
            content: content,
            expires: command.expires
        )
        let objection = await objection(to: command, message, of: publisher)
        do {
            if let objection {
                // One that comes again is answered as before, also if it would come too late now.
                if let earlier = try await journal.find(command.id) {
                    await reply(earlier)
                } else {
                    note(objection.reason ?? "", publisher)
                    await reply(stored.ended(objection))
                }
                return nil
            }
            switch try await journal.receive(stored) {
            case .stored:
                lastFault = ""
                await reply(stored)
                waiting.continuation.yield(Waiting(command: command, publisher: publisher.name))
            case .known(let earlier): await reply(earlier)
            case .full(let limit):
                await reply(stored.ended(CommandEnd(.refused, "\(limit) commands are waiting, the maximum")))
            }
            return nil
        } catch {
            return MQTTDeliveryFailure(reason: "\(error)")
        }
    }

    /// Returns why a command is not stored; `nil` if it is.
    private func objection(
        to command: FleetCommand,
        _ message: MQTTMessage,
        of publisher: StoredPublisher
    ) async -> CommandEnd? {
        guard !message.isRetained else {
            return CommandEnd(.refused, "retained commands are ignored; send it without the retain flag")
        }
        switch command.address {
        case .machines(let ids)? where !ids.contains(publisher.machine):
            return CommandEnd(.refused, "the command is for other machines")
        case .group(let group)? where !publisher.groups.contains(group):
            return CommandEnd(.refused, "the command is for the group \(group)")
        default: break
        }
        let (files, content) = (await keyFiles(), message.payload ?? [])
        if !files.isEmpty {
            let problem = await executor.run { Self.signatureProblem(content, files) }
            if let problem { return CommandEnd(.refused, problem) }
        }
        return lateness(of: command)
    }

    private static func signatureProblem(_ content: [UInt8], _ files: [String]) -> String? {
        do throws(CredentialsError) {
            var keys: [VerifyingKey] = []
            for file in files { keys.append(try VerifyingKey(path: file)) }
            return FleetCommand.isSigned(content, byOneOf: keys)
                ? nil : "the signature is missing or not of a key in fleet.keys"
        } catch {
            return error.description
        }
    }

    private func lateness(of command: FleetCommand) -> CommandEnd? {
        let time = now()
        guard time >= .earliestOfSetClock else {
            return CommandEnd(.refused, "the clock of the machine says \(ISO8601.string(time)); it is not set")
        }
        guard command.expires <= time else { return nil }
        let (end, here) = (ISO8601.string(command.expires), ISO8601.string(time))
        return CommandEnd(.expired, "it expired at \(end); the clock of the machine says \(here)")
    }

    private func note(_ fault: String, _ publisher: StoredPublisher) {
        guard fault != lastFault else { return }
        lastFault = fault
        logger.warning("Refused a command from \(publisher.name): \(fault.withoutControlCharacters)")
    }

    // MARK: Executing

    /// Begins a command. Returns its rest, if it takes longer.
    private func begin(_ item: Waiting) async -> (@Sendable () async -> CommandEnd)? {
        if let late = lateness(of: item.command) {
            await end(item, late)
            return nil
        }
        do {
            // One whose publisher was removed has ended.
            guard try await journal.begin(item.command.id) else { return nil }
        } catch {
            await end(item, CommandEnd(.refused, "cannot record the start of the command: \(error)"))
            return nil
        }
        switch await workers.begin(item.command, of: item.publisher) {
        case .continues(let rest): return rest
        case .ended(let end):
            await self.end(item, end)
            return nil
        }
    }

    private func perform(_ item: Waiting, at time: Date) async {
        if let problem = await workers.prepare(item.command) { return await end(item, problem) }
        // The clock may have been set meanwhile.
        while case let left = time.timeIntervalSince(now()), left > 0 {
            // Tuned: an hour, so that a changed clock is noticed.
            guard (try? await clock.sleep(for: .seconds(min(left, 3600)))) != nil else { return }
        }
        if let rest = await begin(item) { await end(item, rest()) }
    }

    private func end(_ item: Waiting, _ end: CommandEnd) async {
        // A shutdown cuts commands off; the next start says so.
        guard !Task.isCancelled else { return }
        let (name, reason) = (item.command.order.name, end.reason.map { ": \($0)" } ?? "")
        logger.info("Command \(name) from \(item.publisher): \(end.result.rawValue)\(reason.withoutControlCharacters)")
        let stored = StoredCommand(
            id: item.command.id,
            publisher: item.publisher,
            content: [],
            expires: item.command.expires
        )
        await self.end(stored, end)
    }

    private func end(_ stored: StoredCommand, _ end: CommandEnd) async {
        do {
            try await journal.end(stored.id, end)
        } catch {
            logger.error("Cannot store the result of the command \(stored.id.withoutControlCharacters): \(error)")
        }
        await reply(stored.ended(end))
    }
}

extension StoredCommand {
    fileprivate func ended(_ end: CommandEnd) -> StoredCommand {
        var command = self
        (command.result, command.reason) = (end.result, end.reason)
        return command
    }
}
