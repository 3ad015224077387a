package import BackgrounderAPI
import SystemSupport
import WebSupport

extension PushReceiver {
    /// Returns the status of each push, oldest first.
    package func status() -> [PushStatus] {
        pushes.map { status($0) }
    }

    /// Stores a new push, begins to listen, and waits briefly for the broker's answer.
    ///
    /// - Throws: ``PushError``, or an error of the journal.
    package func add(_ request: PushRequest) async throws -> PushStatus {
        if let problem = request.problem { throw PushError.invalid(problem) }
        let push = StoredPush(
            name: request.name,
            address: try BrokerAddress(request.url),
            topic: try TopicFilter(request.topic),
            credentials: request.credentials,
            clientID: StoredPush.randomClientID()
        )
        if let path = request.credentials {
            do throws(CredentialsError) {
                _ = try await QueueExecutor.credentials.run { () throws(CredentialsError) in
                    try BrokerCredentials(path: path)
                }
            } catch {
                throw PushError.credentials(error)
            }
        }
        try await store(push)
        await waitForReport(push.name)
        return status(pushes.first { $0.push.name == push.name } ?? Listening(push: push))
    }

    private func store(_ push: StoredPush) async throws {
        await turn.begin()
        defer { turn.end() }
        guard !pushes.contains(where: { $0.push.name == push.name }) else { throw PushError.exists(push.name) }
        guard pushes.count < PushLimits.mostPushes else { throw PushError.tooMany(limit: PushLimits.mostPushes) }
        try await journal.add(push)
        pushes.append(Listening(push: push))
        if mayWork { open(pushes.count - 1) }
        // Sets the timer for another attempt if the session could not be opened.
        await startDue()
        onEvent(.changed)
    }

    /// Removes a push and ends its subscription at the broker.
    ///
    /// - Throws: ``PushError/noSuchPush(_:)``, or an error of the journal.
    package func remove(_ name: String) async throws {
        await turn.begin()
        defer { turn.end() }
        guard let index = pushes.firstIndex(where: { $0.push.name == name }) else { throw PushError.noSuchPush(name) }
        try await journal.removePush(name)
        pushes.remove(at: index).session?.end(forgetting: true)
        for continuation in awaitingReport.removeValue(forKey: name) ?? [] { continuation.resume() }
        onEvent(.changed)
    }

    /// Waits for the first report of the push, for at most 3 s.
    private func waitForReport(_ name: String) async {
        guard mayWork, let push = pushes.first(where: { $0.push.name == name }), push.state == .connecting,
            push.lastError == nil
        else { return }
        // Tuned: enough for most brokers to answer, and short for a user at a terminal.
        async let _: Void = stopWaiting(for: name, after: .seconds(3))
        await withCheckedContinuation { awaitingReport[name, default: []].append($0) }
    }

    private func stopWaiting(for name: String, after delay: Duration) async {
        // If the caller is cancelled, it does not wait any longer.
        try? await clock.sleep(for: delay)
        for continuation in awaitingReport.removeValue(forKey: name) ?? [] { continuation.resume() }
    }

    private func status(_ listening: Listening) -> PushStatus {
        let push = listening.push
        return PushStatus(
            name: push.name,
            url: push.address.description,
            topic: push.topic.description,
            state: listening.state,
            received: push.received,
            ignored: push.ignored,
            lastError: mayWork ? listening.lastError : PushError.suspended.description
        )
    }
}
