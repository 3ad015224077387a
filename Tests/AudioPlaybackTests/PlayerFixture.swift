import AudioPlayback
import BackgrounderAPI
import Logging
import MediaFiles
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Tests that play in real time. They run one after the other, since the machine is busy with other tests.
@Suite(.serialized, .inRealTime) enum Playback {}

/// A running player with its journal and its events.
final class PlayerFixture: Sendable {
    let player: QueuePlayer
    let journal: MemoryJournal
    private let log: EventLog
    private let service = Mutex<Task<Void, any Error>?>(nil)
    private let group: ServiceGroup

    struct Timeout: Error, CustomStringConvertible {
        let description: String
    }

    init(
        driver: AudioDriverName,
        format: AudioFormat? = nil,
        queue: [PlayerItem] = [],
        unreadable: Set<Int> = [],
        state: PlayerState = PlayerState(),
        journal: MemoryJournal = MemoryJournal(),
        clock: any Clock<Duration> = ContinuousClock(),
        web: WebStreams? = nil,
        startsAtOnce: Bool = true
    ) {
        let log = EventLog()
        journal.onSave.withLock { $0 = { log.notify() } }
        let player = QueuePlayer(
            configuration: AudioConfiguration(driver: driver, format: format),
            queue: queue,
            unreadable: unreadable,
            state: state,
            journal: journal,
            clock: clock,
            web: web,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onEvent: { log.append($0) }
        )
        let group = ServiceGroup(
            configuration: .init(services: [player], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
        self.player = player
        self.journal = journal
        self.log = log
        self.group = group
        if startsAtOnce { start() }
    }

    deinit { service.withLock { $0?.cancel() } }

    /// Runs the service. Call this once.
    func start() {
        let group = group
        service.withLock { $0 = Task { try await group.run() } }
    }

    func shutDown() async throws {
        await group.triggerGracefulShutdown()
        try await service.withLock(\.self)?.value
    }

    /// Waits until the journal has the descriptions of all files in the queue.
    func waitForDescriptions() async throws {
        _ = try await wait("the descriptions of the files") { _ in
            await journal.queue.allSatisfy { $0.sampleRate != nil }
        }
    }

    /// Returns the status once `condition` holds after an event or a write. Throws after `limit`.
    @discardableResult
    func wait(
        _ what: String,
        limit: Duration = .seconds(60),
        until condition: (AudioStatus) async -> Bool
    ) async throws -> AudioStatus {
        let (stream, id) = log.subscribe()
        // Without a timeout, a missing event would block the test forever.
        let timeout = Task {
            try await Task.sleep(for: limit)
            log.unsubscribe(id)
        }
        // The progress of playback is not an event, so poll for it.
        let ticker = Task {
            while (try? await Task.sleep(for: .milliseconds(100))) != nil { log.notify() }
        }
        defer {
            timeout.cancel()
            ticker.cancel()
            log.unsubscribe(id)
        }
        let now = await player.status()
        if await condition(now) { return now }
        for await _ in stream {
            let status = await player.status()
            if await condition(status) { return status }
        }
        throw Timeout(description: "\(what): not reached within \(limit); the status is \(await player.status())")
    }

    /// Ids of the items that became current, in order; `nil` is the end of the queue.
    var currentItems: [Int?] { log.currentItems }
}

/// Passes events on to the tasks that wait for one.
final class EventLog: Sendable {
    private struct State {
        var currentItems: [Int?] = []
        var subscribers: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    var currentItems: [Int?] { state.withLock(\.currentItems) }

    func append(_ event: PlayerEvent) {
        if case .currentItem(let item) = event { state.withLock { $0.currentItems.append(item?.id) } }
        notify()
    }

    func notify() {
        for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.yield() }
    }

    func subscribe() -> (AsyncStream<Void>, Int) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.subscribers[state.next] = continuation
            return state.next
        }
        return (stream, id)
    }

    func unsubscribe(_ id: Int) { state.withLock { $0.subscribers.removeValue(forKey: id) }?.finish() }
}

/// A journal in memory, in place of a store.
actor MemoryJournal: PlayerJournal {
    struct DiskFull: Error {}
    struct Write {
        var queue: [PlayerItem]?
        var state: PlayerState
    }

    private(set) var queue: [PlayerItem] = []
    /// Ids of items whose content is unreadable.
    private(set) var unreadable: Set<Int> = []
    private(set) var state = PlayerState()
    private(set) var writes: [Write] = []
    /// The number of writes that succeed before one is refused or held.
    private var passes = 0
    private var refusals = 0
    private var gate: Gate?
    private let kept = Mutex<[PlayerPosition]>([])
    /// Oldest first.
    nonisolated var keptPositions: [PlayerPosition] { kept.withLock(\.self) }
    nonisolated var keptPosition: PlayerPosition? { keptPositions.last }
    let onSave = Mutex<@Sendable () -> Void>({})

    /// Makes `count` writes fail after `passes` successful ones.
    func refuse(_ count: Int, after passes: Int = 0) { (refusals, self.passes) = (count, passes) }

    /// Holds one write until the gate is opened, after `passes` successful ones.
    func hold(after passes: Int = 0) -> Gate {
        self.passes = passes
        let gate = Gate()
        self.gate = gate
        return gate
    }

    func save(_ changes: [QueueChange], state: PlayerState, isStateNew: Bool) async throws {
        try await pass()
        for change in changes {
            queue.take(change)
            if case .unreadable(let id) = change { unreadable.insert(id) }
        }
        self.state = state
        writes.append(Write(queue: queue, state: state))
        onSave.withLock { $0 }()
    }

    func save(state: PlayerState) async throws {
        try await pass()
        self.state = state
        writes.append(Write(state: state))
        onSave.withLock { $0 }()
    }

    nonisolated func save(position: PlayerPosition) throws {
        kept.withLock { $0.append(position) }
        onSave.withLock { $0 }()
    }

    private func pass() async throws {
        if passes > 0 {
            passes -= 1
            return
        }
        if refusals > 0 {
            refusals -= 1
            throw DiskFull()
        }
        if let gate {
            self.gate = nil
            await gate.pass()
        }
    }
}
