import BackgrounderAPI
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import MQTTClient
@testable import SilentPush

extension VirtualClock {
    /// The calendar time.
    var date: Date { Date(timeIntervalSince1970: 1_795_000_000 + seconds) }
}

/// A journal in memory that can be made to fail.
actor MemoryPushJournal: PushJournal {
    struct Full: Error {}

    var saved = SavedPushes()
    private var running: [String: WaitingPush] = [:]
    private var ids: Set<String> = []
    var isFull = false

    func fill(_ isFull: Bool) { self.isFull = isFull }
    func begin(with push: StoredPush) { saved.pushes = [push] }
    func knows(_ id: String) -> Bool { ids.contains(id) }

    /// Returns the state that a restart finds.
    func recovered() -> SavedPushes {
        for (source, message) in running where !saved.waiting.contains(where: { $0.source == source }) {
            saved.waiting.append(message)
        }
        running = [:]
        return saved
    }

    private func check() throws { if isFull { throw Full() } }

    func change(removing removed: [String], adding pushes: [StoredPush], adopting adopted: [String]) throws {
        try check()
        saved.pushes.removeAll { removed.contains($0.name) }
        saved.pushes += pushes
        for index in saved.pushes.indices where adopted.contains(saved.pushes[index].name) {
            saved.pushes[index].isDeclared = true
        }
    }

    func receive(_ message: WaitingPush, of push: String) throws -> Bool {
        try check()
        guard ids.insert(message.id).inserted else { return false }
        saved.waiting.removeAll { $0.source == message.source }
        saved.waiting.append(message)
        return true
    }

    func count(_ reason: PushRejection, of push: String) throws { try check() }

    func begin(_ source: String, at time: Date) throws {
        try check()
        running[source] = saved.waiting.first { $0.source == source }
        saved.waiting.removeAll { $0.source == source }
        saved.starts[source, default: []].append(time)
    }

    func end(_ source: String, began: Date, isUndone: Bool) throws {
        try check()
        running[source] = nil
        if isUndone { saved.starts[source]?.removeAll { $0 == began } }
    }

    func alerted(_ source: String, id: String) throws {
        try check()
        if running[source]?.id == id { running[source]?.alert = nil }
        for index in saved.waiting.indices where saved.waiting[index].id == id { saved.waiting[index].alert = nil }
    }
}

/// A running receiver, with a recorder in place of the fetches and one for its alerts.
final class PushRig: Sendable {
    struct Fetch: Hashable, Sendable {
        var source: String
        var id: String
        var at: Double
    }

    private struct Heard {
        var fetches: [Fetch] = []
        var alerts: [String] = []
        var held: [CheckedContinuation<Void, Never>] = []
        var isHolding = false
        /// Whether fetches are recorded but do not take place.
        var isOff = false
    }

    let receiver: PushReceiver
    let journal: MemoryPushJournal
    let time: VirtualClock
    private let heard = Mutex(Heard())
    private let signal = Signal()
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    init(journal: MemoryPushJournal = MemoryPushJournal(), time: VirtualClock = VirtualClock()) async {
        (self.journal, self.time) = (journal, time)
        let relay = PushRelay()
        receiver = PushReceiver(
            saved: await journal.recovered(),
            journal: journal,
            clock: time,
            now: { time.date },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            hasSource: { !$0.hasPrefix("no") },
            fetch: { source, id in await relay.rig?.fetch(source, id) }
        ) { event in
            relay.rig?.hear(event)
        }
        group = ServiceGroup(services: [receiver], logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() })
        // A fetch that begins before the relay has this would be lost.
        let (ready, start) = AsyncStream.makeStream(of: Never.self)
        task = Task { [group] in
            for await _ in ready {}
            try await group.run()
        }
        relay.set(self)
        start.finish()
        await receiver.resume()
    }

    private func fetch(_ source: String, _ id: String) async -> FetchRun? {
        let began = time.date
        let (isHolding, isOff) = heard.withLock { heard in
            heard.fetches.append(Fetch(source: source, id: id, at: time.seconds))
            return (heard.isHolding, heard.isOff)
        }
        signal.post()
        if isHolding {
            await withCheckedContinuation { continuation in heard.withLock { $0.held.append(continuation) } }
        }
        return isOff
            ? nil : FetchRun(id: 1, source: source, trigger: .push, began: began, ended: time.date, result: .newData)
    }

    private func hear(_ event: PushReceiver.Event) {
        if case .alert(let alert) = event { heard.withLock { $0.alerts.append(alert.text) } }
        signal.post()
    }

    var fetches: [Fetch] { heard.withLock { $0.fetches } }
    var alerts: [String] { heard.withLock { $0.alerts } }

    /// Makes fetches last until ``letGo()``.
    func hold() { heard.withLock { $0.isHolding = true } }

    func letGo() {
        let held = heard.withLock { heard in
            heard.isHolding = false
            defer { heard.held = [] }
            return heard.held
        }
        for continuation in held { continuation.resume() }
    }

    func switchOff(_ isOff: Bool) { heard.withLock { $0.isOff = isOff } }

    @discardableResult
    func send(_ id: String, source: String = "news", alert: String? = nil) async throws -> PushOutcome {
        let alert = alert.map { #","alert":"\#($0)""# } ?? ""
        return try await receiver.simulate(
            #"{"content-available":1,"source":"\#(source)","id":"\#(id)"\#(alert)}"#,
            of: "push"
        )
    }

    func wait(fetches count: Int) async throws {
        _ = try await signal.wait(for: "\(count) fetches, not \(fetches)", within: 20) {
            fetches.count >= count ? true : nil
        }
    }

    func wait(alerts expected: [String]) async throws {
        _ = try await signal.wait(for: "the alerts \(expected), not \(alerts)", within: 20) {
            alerts == expected ? true : nil
        }
    }

    /// Returns when the service has started.
    func waitUntilServing() async throws {
        _ = try await signal.wait(for: "the service", within: 20) { await receiver.mayWork ? true : nil }
    }

    func waitUntilIdle() async throws {
        _ = try await signal.wait(for: "end of the fetches", within: 20) { await receiver.isAtWork() ? nil : true }
    }

    func end() async throws {
        await group.triggerGracefulShutdown()
        letGo()
        try await task.value
    }
}

private final class PushRelay: Sendable {
    private struct Weak { weak var rig: PushRig? }
    private let held = Mutex(Weak())
    var rig: PushRig? { held.withLock { $0.rig } }
    func set(_ rig: PushRig) { held.withLock { $0.rig = rig } }
}

extension StoredPush {
    /// A push for tests. No broker listens at the default port.
    static func sample(
        _ name: String = "push",
        port: Int = 1,
        topic: String = "t",
        isSecure: Bool = false,
        credentials: String? = nil
    ) throws -> StoredPush {
        StoredPush(
            name: name,
            address: try BrokerAddress("\(isSecure ? "mqtts" : "mqtt")://localhost:\(port)"),
            topic: try TopicFilter(topic),
            credentials: credentials,
            clientID: randomClientID()
        )
    }
}
