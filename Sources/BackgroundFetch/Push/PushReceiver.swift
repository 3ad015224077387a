package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import Synchronization

/// Silent push: messages of brokers that make sources be fetched.
///
/// A message is stored, then acknowledged, then acted on. What waits for its fetch, or was being fetched, when the service dies is
/// fetched after its next start. Times of the hour are those of the wall clock; a wait in between is on `clock`.
///
///     let receiver = PushReceiver(saved: try store.pushes(), journal: journal, clock: clock, logger: logger,
///         hasSource: { await fetch.hasSource($0) }, fetch: { await fetch.run($0, push: $1) }) { event in … }
package actor PushReceiver: Service {
    struct Listening {
        var push: StoredPush
        var state = PushState.connecting
        var lastError: String?
        var session: MQTTSession?
        /// What the session says.
        var word: StandingBox?
    }

    struct Waiting {
        var message: WaitingPush
        /// When the first came of those that it stands for.
        var first: Date
        /// When it is time for its alert.
        var alertDue: Date?
    }

    struct Running {
        var message: WaitingPush
        var began: Date
        var alertDue: Date?
    }

    /// A source that messages have named.
    struct Source {
        var limiter = PushLimiter()
        var waiting: Waiting?
        var running: Running?
    }

    /// What it tells of.
    package enum Event: Sendable {
        /// To be shown now.
        case alert(PushAlert)
        /// The state of a broker, or whether there is work in hand.
        case changed
    }

    let journal: any PushJournal
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let logger: Logger
    let hasSource: @Sendable (String) async -> Bool
    let fetch: @Sendable (_ source: String, _ id: String) async -> FetchRun?
    let onEvent: @Sendable (Event) -> Void

    var pushes: [Listening]
    var sources: [String: Source]
    var timer: Task<Void, Never>?
    /// When those without a session are tried again.
    var sessionRetry: Date?
    private var isServing = false
    var isEnding = false
    private var isSuspended = false
    private var isTaken = false
    private var turns: [CheckedContinuation<Void, Never>] = []
    var settling: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// - Parameters:
    ///   - hasSource: whether a source is configured.
    ///   - fetch: fetches it and returns the run when it is over; `nil` when there is none.
    package init(
        saved: SavedPushes,
        journal: any PushJournal,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date = { Date() },
        logger: Logger,
        hasSource: @escaping @Sendable (String) async -> Bool,
        fetch: @escaping @Sendable (_ source: String, _ id: String) async -> FetchRun?,
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        pushes = saved.pushes.map { Listening(push: $0) }
        sources = saved.starts.mapValues { Source(limiter: PushLimiter(starts: $0)) }
        let time = now()
        for message in saved.waiting {
            let due = message.alert.map { _ in time.addingTimeInterval(PushJudgement.alertDelay) }
            sources[message.source, default: Source()].waiting = Waiting(
                message: message,
                first: message.arrived,
                alertDue: due
            )
        }
        (self.journal, self.clock, self.now, self.logger) = (journal, clock, now, logger)
        (self.hasSource, self.fetch, self.onEvent) = (hasSource, fetch, onEvent)
    }

    /// Listens until the graceful shutdown.
    package func run() async throws {
        isServing = true
        await apply()
        let ended = AsyncStream<Void>.makeStream()
        await withTaskCancellationOrGracefulShutdownHandler {
            for await _ in ended.stream {}
        } onCancelOrGracefulShutdown: {
            ended.continuation.finish()
        }
        isServing = false
        isEnding = true
        await apply()
    }

    /// The mode may not be at work: the brokers keep what comes.
    package func suspend() async {
        isSuspended = true
        await apply()
    }

    package func resume() async {
        isSuspended = false
        await apply()
    }

    /// Whether a fetch is under way.
    package func isAtWork() -> Bool {
        sources.values.contains { $0.running != nil }
    }

    var mayWork: Bool { isServing && !isSuspended }

    private func apply() async {
        await takeTurn()
        defer { passTurn() }
        openSessions()
        if !mayWork {
            for index in pushes.indices {
                pushes[index].session?.end()
                (pushes[index].session, pushes[index].state, pushes[index].lastError) = (nil, .connecting, nil)
            }
            // No broker will say a word to them.
            for continuation in settling.values.joined() { continuation.resume() }
            settling = [:]
        }
        await startDue()
        onEvent(.changed)
    }

    /// Of those that have none, since they are new or the system had none to give.
    func openSessions() {
        for index in pushes.indices where mayWork && pushes[index].session == nil { open(index) }
    }

    func open(_ index: Int) {
        let push = pushes[index].push
        let box = StandingBox()
        pushes[index].word = box
        do throws(SystemRefusal) {
            pushes[index].session = try MQTTSession(push) { [weak self] message in
                guard let self else { return MQTTDeliveryFailure(reason: "the service ends") }
                return await self.take(message, of: push)
            } report: { [weak self] standing in
                box.set(standing)
                Task { await self?.heard(box, of: push) }
            }
        } catch {
            let reason = PushError.system(reason: error.description).description
            if pushes[index].lastError != reason { logger.error("Push \(push.name) cannot listen: \(error)") }
            pushes[index].lastError = reason
            sessionRetry = now().addingTimeInterval(PushJudgement.sessionRetry)
        }
    }

    private func heard(_ box: StandingBox, of push: StoredPush) {
        // Of the session that is open, and not of one before it.
        guard let standing = box.take(), let index = pushes.firstIndex(where: { $0.word === box }),
            pushes[index].session != nil
        else { return }
        let old = (pushes[index].state, pushes[index].lastError == nil)
        switch standing {
        case .connected: (pushes[index].state, pushes[index].lastError) = (.connected, nil)
        case .failed(let failure):
            pushes[index].state = failure.isRefusal ? .refused : .connecting
            pushes[index].lastError = failure.description.withoutControlCharacters
        }
        for continuation in settling.removeValue(forKey: push.name) ?? [] { continuation.resume() }
        // One line a change: a broker that is away for days is no news.
        guard (pushes[index].state, pushes[index].lastError == nil) != old else { return }
        switch pushes[index].state {
        case .connected: logger.info("Push \(push.name): connected to \(push.address).")
        case .connecting:
            logger.warning("Push \(push.name): \(pushes[index].lastError ?? "") (\(push.address)); trying again.")
        case .refused:
            logger.error("Push \(push.name): refused by \(push.address): \(pushes[index].lastError ?? "")")
        }
        onEvent(.changed)
    }

    // MARK: One after the other

    /// What changes the stored state runs alone, from the first word to the last, though it waits for the disk in between.
    func takeTurn() async {
        if isTaken {
            await withCheckedContinuation { turns.append($0) }
        } else {
            isTaken = true
        }
    }

    func passTurn() {
        if turns.isEmpty { isTaken = false } else { turns.removeFirst().resume() }
    }
}

/// The newest word of a session: tasks may overtake each other.
final class StandingBox: Sendable {
    private let standing = Mutex<MQTTStanding?>(nil)

    func set(_ value: MQTTStanding) { standing.withLock { $0 = value } }

    func take() -> MQTTStanding? {
        standing.withLock { standing in
            defer { standing = nil }
            return standing
        }
    }
}
