package import BackgrounderAPI
import FoundationEssentials
import Logging
import MQTTClient
import SystemSupport

extension PushReceiver {
    /// Handles `payload` as if the broker of `name` had sent it.
    ///
    /// - Throws: ``PushError``, or an error of the journal.
    package func simulate(_ payload: String, of name: String) async throws -> PushOutcome {
        guard mayWork else { throw PushError.suspended }
        return try await receive(MQTTMessage(payload: Array(payload.utf8), isRetained: false), of: name)
    }

    /// Receives a message of a broker. If this returns `nil`, the message may be acknowledged.
    func accept(_ message: MQTTMessage, of push: StoredPush) async -> MQTTDeliveryFailure? {
        do {
            _ = try await receive(message, of: push.name)
            return nil
        } catch PushError.noSuchPush {
            // The push was just removed, so the message is dropped.
            return nil
        } catch {
            return MQTTDeliveryFailure(reason: "\(error)")
        }
    }

    /// Checks, counts and stores a message, and starts its fetch if it is due.
    private func receive(_ message: MQTTMessage, of name: String) async throws -> PushOutcome {
        await turn.begin()
        defer { turn.end() }
        guard pushes.contains(where: { $0.push.name == name }) else { throw PushError.noSuchPush(name) }
        let arrived = now()
        let content: PushMessage
        do throws(PushRejection) {
            content = try await parse(message, at: arrived)
        } catch {
            return try await ignore(error, of: name)
        }
        let earlier = sources[content.source]?.waiting
        // The newest message replaces the waiting one; an alert of the replaced message is kept if the new one has
        // none.
        let waiting = WaitingPush(
            source: content.source,
            id: content.id,
            alert: content.alert ?? earlier?.message.alert,
            arrived: arrived
        )
        guard try await journal.receive(waiting, of: name) else {
            return try await ignore(.duplicate, of: name, isCounted: true)
        }
        change(name) { $0.received += 1 }
        sources[content.source, default: Source()].waiting = Waiting(
            message: waiting,
            first: earlier?.first ?? arrived,
            alertDue: content.alert.map { _ in arrived.addingTimeInterval(PushLimits.alertDelay) }
                ?? earlier?.alertDue
        )
        await startDue()
        guard let source = sources[content.source], source.waiting?.message.id == content.id else {
            return PushOutcome(.started, source: content.source)
        }
        return PushOutcome(.waiting, source: content.source, at: source.running == nil ? due(content.source) : nil)
    }

    /// Parses a message.
    ///
    /// - Throws: why it is ignored.
    private func parse(_ message: MQTTMessage, at time: Date) async throws(PushRejection) -> PushMessage {
        guard !message.isRetained else { throw .retained }
        guard let payload = message.payload else { throw .oversize }
        let content = try PushMessage(payload, now: time)
        guard await hasSource(content.source) else { throw .unknown }
        return content
    }

    /// Counts an ignored message; `isCounted` says that the journal has done so.
    private func ignore(_ reason: PushRejection, of name: String, isCounted: Bool = false) async throws -> PushOutcome {
        if !isCounted { try await journal.count(reason, of: name) }
        change(name) { $0.ignored.count(reason) }
        logger.debug("Push \(name): ignored a message: \(reason.description)")
        return PushOutcome(.ignored, reason: reason.rawValue, detail: reason.description)
    }

    private func change(_ name: String, _ body: (inout StoredPush) -> Void) {
        guard let index = pushes.firstIndex(where: { $0.push.name == name }) else { return }
        body(&pushes[index].push)
    }

    // MARK: Fetches

    /// Returns when the waiting fetch of the source `name` may begin; `nil` if none waits.
    private func due(_ name: String) -> Date? {
        guard var source = sources[name], let waiting = source.waiting else { return nil }
        defer { sources[name] = source }
        return source.limiter.due(first: waiting.first, newest: waiting.message.arrived, now: now())
    }

    /// Starts the due fetches, shows the due alerts and sets the timer for the others. The caller has the turn.
    func startDue() async {
        guard mayWork else { return rearm([]) }
        var times: [Date] = []
        for name in sources.keys.sorted() {
            if sources[name]?.running == nil, let due = due(name) {
                if due > now() {
                    times.append(due)
                } else if await !start(name) {
                    times.append(now().addingTimeInterval(PushLimits.storeRetry))
                }
            }
            await showDueAlert(name)
            times += [sources[name]?.waiting?.alertDue, sources[name]?.running?.alertDue].compactMap(\.self)
        }
        if let sessionRetry, pushes.contains(where: { $0.session == nil }) { times.append(sessionRetry) }
        rearm(times)
    }

    /// Starts the waiting fetch of the source `name`; returns false if its start cannot be saved.
    private func start(_ name: String) async -> Bool {
        guard let waiting = sources[name]?.waiting else { return true }
        let began = now()
        do {
            try await journal.begin(name, at: began)
        } catch {
            logger.error("\(name): cannot save the start of the pushed fetch: \(error); retrying")
            return false
        }
        sources[name]?.limiter.began(at: began)
        sources[name]?.running = Running(message: waiting.message, began: began, alertDue: waiting.alertDue)
        sources[name]?.waiting = nil
        onEvent(.changed)
        Task {
            let run = await fetch(name, waiting.message.id)
            await ended(name, run)
        }
        return true
    }

    /// Handles the end of a fetch.
    private func ended(_ name: String, _ run: FetchRun?) async {
        await turn.begin()
        defer { turn.end() }
        guard let running = sources[name]?.running else { return }
        // The shutdown interrupted the fetch. It is still stored and runs again after the next start.
        if run == nil, phase == .ending { return }
        // Before the journal: if the process ends in between, the alert is shown twice rather than never.
        if let alert = running.message.alert { show(alert, running.message) }
        do {
            try await journal.end(name, began: running.began, isUndone: run == nil)
        } catch {
            logger.error("\(name): cannot save the end of the pushed fetch: \(error)")
        }
        if run == nil { sources[name]?.limiter.undo(running.began) }
        sources[name]?.running = nil
        await startDue()
        onEvent(.changed)
    }

    // MARK: Alerts

    /// Shows the alerts of the source `name` that cannot wait for the fetch any longer.
    private func showDueAlert(_ name: String) async {
        let time = now()
        if let waiting = sources[name]?.waiting, let due = waiting.alertDue, due <= time,
            let text = waiting.message.alert
        {
            sources[name]?.waiting?.alertDue = nil
            sources[name]?.waiting?.message.alert = nil
            show(text, waiting.message)
            await noteAlert(waiting.message)
        }
        if let running = sources[name]?.running, let due = running.alertDue, due <= time,
            let text = running.message.alert
        {
            sources[name]?.running?.alertDue = nil
            sources[name]?.running?.message.alert = nil
            show(text, running.message)
            await noteAlert(running.message)
        }
    }

    private func show(_ text: String, _ message: WaitingPush) {
        logger.info("Alert: \(text.withoutControlCharacters)")
        onEvent(.alert(PushAlert(source: message.source, id: message.id, text: text)))
    }

    private func noteAlert(_ message: WaitingPush) async {
        do {
            try await journal.alerted(message.source, id: message.id)
        } catch {
            logger.error("\(message.source): cannot record that the alert was shown: \(error)")
        }
    }

    // MARK: The timer

    /// Sets the one timer to the earliest of `times`; none if `times` is empty.
    private func rearm(_ times: [Date]) {
        timer?.cancel()
        timer = nil
        guard let earliest = times.min() else { return }
        let delay = max(0, earliest.timeIntervalSince(now()))
        timer = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: .seconds(delay))) != nil else { return }
            await self?.timerFired()
        }
    }

    private func timerFired() async {
        await turn.begin()
        defer { turn.end() }
        timer = nil
        openSessions()
        await startDue()
    }
}
