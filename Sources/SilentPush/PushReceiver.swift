package import BackgrounderAPI
package import FoundationEssentials
package import Logging
import MQTTClient
import ServiceLifecycle
import SystemSupport

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
        /// The number of the session, by which its reports are told from those of earlier ones.
        var sessionNumber = 0
    }

    /// Where the receiver is in its life cycle.
    enum Phase { case created, serving, ending }

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
    /// The configuration file, for errors about declared pushes.
    var declarationFile = ""
    var sources: [String: Source]
    var timer: Task<Void, Never>?
    /// When to retry pushes whose session could not be opened.
    var sessionRetry: Date?
    private var lastSession = 0
    /// The reports of all sessions, in their order.
    private let reports = AsyncStream.makeStream(of: (session: Int, report: MQTTReport).self)
    private(set) var phase = Phase.created
    private var isSuspended = false
    /// The turn for changes of the stored state.
    let turn = Turn()
    /// Calls of ``add(_:)`` that wait for the first report of a push, by its name.
    var awaitingReport: [String: [CheckedContinuation<Void, Never>]] = [:]

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
            let due = message.alert.map { _ in time.addingTimeInterval(PushLimits.alertDelay) }
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
        phase = .serving
        await apply()
        await withGracefulShutdownHandler {
            for await (session, report) in reports.stream { heard(report, from: session) }
        } onGracefulShutdown: { [reports] in
            reports.continuation.finish()
        }
        phase = .ending
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

    var mayWork: Bool { phase == .serving && !isSuspended }

    /// Opens or ends the sessions and starts due fetches, depending on ``mayWork``.
    private func apply() async {
        await turn.begin()
        defer { turn.end() }
        openSessions()
        if !mayWork {
            for index in pushes.indices {
                pushes[index].session?.end()
                (pushes[index].session, pushes[index].state, pushes[index].lastError) = (nil, .connecting, nil)
            }
            // No report will come for these.
            for continuation in awaitingReport.values.joined() { continuation.resume() }
            awaitingReport = [:]
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
        lastSession += 1
        pushes[index].sessionNumber = lastSession
        do throws(SystemRefusal) {
            pushes[index].session = try MQTTSession(push.options, thread: "push") { [weak self] message in
                guard let self else { return MQTTDeliveryFailure(reason: "the service is stopping") }
                return await self.accept(message, of: push)
            } report: { [reports = reports.continuation, session = lastSession] report in
                reports.yield((session, report))
            }
        } catch {
            let reason = PushError.system(reason: error.description).description
            if pushes[index].lastError != reason {
                logger.error("Push \(push.name): cannot listen: \(error); retrying")
            }
            pushes[index].lastError = reason
            sessionRetry = now().addingTimeInterval(PushLimits.sessionRetry)
        }
    }

    /// Handles a report of the session with the number `session`.
    private func heard(_ report: MQTTReport, from session: Int) {
        // Ignore a report of an earlier session.
        guard let index = pushes.firstIndex(where: { $0.sessionNumber == session && $0.session != nil }) else { return }
        let push = pushes[index].push
        let old = (pushes[index].state, pushes[index].lastError == nil)
        switch report {
        case .connected: (pushes[index].state, pushes[index].lastError) = (.connected, nil)
        case .failed(let failure):
            pushes[index].state = failure.isRefusal ? .refused : .connecting
            pushes[index].lastError = failure.description.withoutControlCharacters
        }
        for continuation in awaitingReport.removeValue(forKey: push.name) ?? [] { continuation.resume() }
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
}
