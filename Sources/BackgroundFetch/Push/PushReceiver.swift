package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import ServiceLifecycle
import Synchronization

/// Receives silent push messages from MQTT brokers and fetches the sources that they name.
///
/// A message is stored before it is acknowledged or acted on. A fetch that was waiting or running when the service died
/// begins after its next start. The hourly limit uses wall clock times; waits use `clock`.
///
///     let receiver = PushReceiver(saved: try store.pushes(), journal: journal, clock: clock, logger: logger,
///         hasSource: { await fetch.hasSource($0) }, fetch: { await fetch.run($0, push: $1) }) { event in … }
package actor PushReceiver: Service {
    /// A push and the session that listens to it.
    struct Listening {
        var push: StoredPush
        var state = PushState.connecting
        var lastError: String?
        var session: MQTTSession?
        /// The latest report of the session.
        var word: StandingBox?
    }

    /// A message that waits for its fetch to begin.
    struct Waiting {
        var message: WaitingPush
        /// When the first of the messages that this one replaced arrived.
        var first: Date
        /// When its alert is shown even if the fetch has not ended.
        var alertDue: Date?
    }

    /// A message whose fetch is running.
    struct Running {
        var message: WaitingPush
        var began: Date
        var alertDue: Date?
    }

    /// A source that a message has named.
    struct Source {
        var limiter = PushLimiter()
        var waiting: Waiting?
        var running: Running?
    }

    /// A notification of the receiver.
    package enum Event: Sendable {
        /// Show this alert now.
        case alert(PushAlert)
        /// The state of a push changed, or whether fetches run.
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
    /// When to retry pushes whose session could not be opened.
    var sessionRetry: Date?
    private var isServing = false
    var isEnding = false
    private var isSuspended = false
    /// Whether an operation has the turn; see ``takeTurn()``.
    private var isTaken = false
    private var turns: [CheckedContinuation<Void, Never>] = []
    /// Calls of ``add(_:)`` that wait for the first report of a push, by its name.
    var settling: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// Creates a receiver that restores `saved`. It begins to listen in ``run()``.
    ///
    /// - Parameters:
    ///   - hasSource: returns whether a source is configured.
    ///   - fetch: fetches a source and returns the run after it has ended; `nil` if it did not run.
    ///   - onEvent: called on the actor's executor.
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

    /// Listens until graceful shutdown or cancellation.
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

    /// Disconnects from the brokers because the mode must not work now. The brokers keep new messages.
    package func suspend() async {
        isSuspended = true
        await apply()
    }

    /// Connects again after ``suspend()``.
    package func resume() async {
        isSuspended = false
        await apply()
    }

    /// Returns whether a fetch is running.
    package func isAtWork() -> Bool {
        sources.values.contains { $0.running != nil }
    }

    var mayWork: Bool { isServing && !isSuspended }

    /// Opens or ends the sessions and starts due fetches, depending on ``mayWork``.
    private func apply() async {
        await takeTurn()
        defer { passTurn() }
        openSessions()
        if !mayWork {
            for index in pushes.indices {
                pushes[index].session?.end()
                (pushes[index].session, pushes[index].state, pushes[index].lastError) = (nil, .connecting, nil)
            }
            // No report will come for these.
            for continuation in settling.values.joined() { continuation.resume() }
            settling = [:]
        }
        await startDue()
        onEvent(.changed)
    }

    /// Opens a session for each push without one.
    func openSessions() {
        for index in pushes.indices where mayWork && pushes[index].session == nil { open(index) }
    }

    func open(_ index: Int) {
        let push = pushes[index].push
        let box = StandingBox()
        pushes[index].word = box
        do throws(SystemRefusal) {
            pushes[index].session = try MQTTSession(push) { [weak self] message in
                guard let self else { return MQTTDeliveryFailure(reason: "the service is stopping") }
                return await self.take(message, of: push)
            } report: { [weak self] standing in
                box.set(standing)
                Task { await self?.heard(box, of: push) }
            }
        } catch {
            let reason = PushError.system(reason: error.description).description
            if pushes[index].lastError != reason {
                logger.error("Push \(push.name): cannot listen: \(error); retrying")
            }
            pushes[index].lastError = reason
            sessionRetry = now().addingTimeInterval(PushJudgement.sessionRetry)
        }
    }

    /// Handles a report of the session that owns `box`.
    private func heard(_ box: StandingBox, of push: StoredPush) {
        // Ignore a report of an earlier session.
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
        // Log only changes: a broker that is down for days would fill the log.
        guard (pushes[index].state, pushes[index].lastError == nil) != old else { return }
        switch pushes[index].state {
        case .connected: logger.info("Push \(push.name): connected to \(push.address)")
        case .connecting:
            logger.warning("Push \(push.name): \(pushes[index].lastError ?? "") (\(push.address)); retrying")
        case .refused:
            logger.error("Push \(push.name): refused by \(push.address): \(pushes[index].lastError ?? "")")
        }
        onEvent(.changed)
    }

    // MARK: Turns

    /// Waits until no other operation changes the stored state. Pair with ``passTurn()``.
    ///
    /// Operations await the disk between their steps, so actor isolation alone does not keep them apart.
    func takeTurn() async {
        if isTaken {
            await withCheckedContinuation { turns.append($0) }
        } else {
            isTaken = true
        }
    }

    /// Passes the turn to the next waiting operation, in the order of their calls.
    func passTurn() {
        if turns.isEmpty { isTaken = false } else { turns.removeFirst().resume() }
    }
}

/// The latest report of a session. It is read from here because the tasks that deliver reports may overtake each other.
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
