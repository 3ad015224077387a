package import BackgrounderAPI
import FoundationEssentials
import MQTTClient
import Synchronization
import SystemSupport

/// The reports of a machine to its operator: replies to commands, and its status document.
extension FleetPublisher {
    /// Notes that the state of the service changed. Any thread; returns immediately.
    package nonisolated func noteChange() {
        if open.withLock({ !$0.isEmpty }) { changes.continuation.yield() }
    }

    /// Sends an event at a place. Without a connection, the newest events wait in memory. Any thread; returns immediately.
    package nonisolated func occurred(_ event: PlaceEvent) {
        open.withLock { open in
            guard !open.isEmpty, let content = try? JSON.encode(event) else { return }
            for (outbox, session) in open {
                outbox.post(place: Array(content))
                session.wake()
            }
        }
    }

    /// Sends the state of a command to its sender.
    package func reply(_ command: StoredCommand) {
        guard let entry = entries.first(where: { $0.publisher.name == command.publisher }) else { return }
        let machine = entry.publisher.machine
        let reply = CommandReply(
            id: command.id,
            machine: machine.description,
            result: command.result,
            reason: command.reason?.withoutControlCharacters
        )
        guard let payload = try? JSON.encode(reply) else { return }
        let isLast = command.result != .accepted
        entry.messages.post(
            Array(payload),
            topic: FleetTopics.replies(of: machine),
            command: isLast ? command.id : nil
        )
        entry.session?.wake()
    }

    /// Sends the newest position again. Returns false if there is none.
    package func sendPosition(of name: String) -> Bool {
        guard let position = position.withLock(\.self) else { return false }
        guard let entry = entries.first(where: { $0.publisher.name == name }) else { return false }
        entry.outbox?.resend(position)
        entry.session?.wake()
        return true
    }

    /// Sends the status document of one publisher.
    package func sendReport(of name: String) async {
        guard let status = await observe?() else { return }
        guard let index = entries.firstIndex(where: { $0.publisher.name == name }) else { return }
        send(status, of: index, isForced: true)
    }

    /// Sends the status documents after each change, and once a minute while there is a session.
    func reportStatus() async {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await _ in changes.stream {
            timer?.cancel()
            // Tuned: changes come in groups.
            try? await clock.sleep(for: .milliseconds(500))
            guard !Task.isCancelled else { return }
            guard entries.contains(where: { $0.session != nil }), let status = await observe?() else { continue }
            for name in entries.map(\.publisher.name) {
                guard let index = entries.firstIndex(where: { $0.publisher.name == name }) else { continue }
                send(status, of: index, isForced: false)
            }
            timer = Task { [clock, changes] in
                // Tuned: an operator who sees a document of more than a minute ago knows that the machine is gone.
                guard (try? await clock.sleep(for: .seconds(60))) != nil else { return }
                changes.continuation.yield()
            }
        }
    }

    private func send(_ status: ServiceStatus, of index: Int, isForced: Bool) {
        guard let outbox = entries[index].outbox, let session = entries[index].session else { return }
        guard entries[index].publisher.address.broker != nil else { return }
        let (publisher, last) = (entries[index].publisher, entries[index].report)
        guard let publishing = status.publishers?.first(where: { $0.name == publisher.name }) else { return }
        let report = MachineReport(status, of: publisher, publishing)
        // Tuned: a little less than the minute of the timer.
        guard isForced || last?.steady != report.steady || (report.time ?? 0) - (last?.time ?? 0) >= 55 else { return }
        guard let document = try? JSON.encode(report) else { return }
        entries[index].report = report
        outbox.setStatus(Array(document))
        session.wake()
    }
}
