package import BackgrounderAPI

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
        if let path = request.credentials, let error = try await BrokerCredentials.problem(path: path) {
            throw PushError.credentials(error)
        }
        try await store(push)
        await settle(push.name)
        return status(pushes.first { $0.push.name == push.name } ?? Listening(push: push))
    }

    private func store(_ push: StoredPush) async throws {
        await takeTurn()
        defer { passTurn() }
        guard !pushes.contains(where: { $0.push.name == push.name }) else { throw PushError.exists(push.name) }
        guard pushes.count < PushJudgement.mostPushes else { throw PushError.tooMany(limit: PushJudgement.mostPushes) }
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
        await takeTurn()
        defer { passTurn() }
        guard let index = pushes.firstIndex(where: { $0.push.name == name }) else { throw PushError.noSuchPush(name) }
        try await journal.removePush(name)
        pushes.remove(at: index).session?.end(forgetting: true)
        for continuation in settling.removeValue(forKey: name) ?? [] { continuation.resume() }
        onEvent(.changed)
    }

    /// Waits for the first report of the push, for at most 3 s.
    private func settle(_ name: String) async {
        guard mayWork, let push = pushes.first(where: { $0.push.name == name }), push.state == .connecting,
            push.lastError == nil
        else { return }
        let limit = Task { [clock] in
            // Tuned: enough for most brokers to answer, and short for a user at a terminal.
            guard (try? await clock.sleep(for: .seconds(3))) != nil else { return }
            for continuation in settling.removeValue(forKey: name) ?? [] { continuation.resume() }
        }
        await withCheckedContinuation { settling[name, default: []].append($0) }
        limit.cancel()
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
