package import BackgrounderAPI
import MQTTClient
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
        let push = try StoredPush(request)
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
        try await journal.change(removing: [], adding: [push], adopting: [])
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
        if pushes[index].push.isDeclared { throw PushError.declared(name, file: declarationFile) }
        try await journal.change(removing: [name], adding: [], adopting: [])
        forget(name)
        onEvent(.changed)
    }

    /// Makes the declared pushes those of `requests`, in one transaction: adds, changes and removes pushes.
    ///
    /// Pushes that a command added stay. One with a declared name becomes a declared one. A push with another broker,
    /// topic or file of credentials is removed and added again.
    ///
    /// - Parameters:
    ///   - requests: valid requests with different names.
    ///   - file: the configuration file, for errors of commands.
    /// - Throws: ``PushError/tooMany(limit:)`` or an error of the journal; nothing changes then.
    package func declare(_ requests: [PushRequest], in file: String) async throws {
        await turn.begin()
        defer { turn.end() }
        declarationFile = file
        let declared = Set(requests.map(\.name))
        var removed = pushes.map(\.push).filter { $0.isDeclared && !declared.contains($0.name) }.map(\.name)
        var (added, adopted) = ([StoredPush](), [String]())
        for request in requests {
            let new = try StoredPush(request, isDeclared: true)
            let old = pushes.first { $0.push.name == request.name }?.push
            if let old, old.isSame(as: new) {
                if !old.isDeclared { adopted.append(old.name) }
            } else {
                if let old { removed.append(old.name) }
                added.append(new)
            }
        }
        guard !(removed.isEmpty && added.isEmpty && adopted.isEmpty) else { return }
        guard pushes.count - removed.count + added.count <= PushLimits.mostPushes else {
            throw PushError.tooMany(limit: PushLimits.mostPushes)
        }
        try await journal.change(removing: removed, adding: added, adopting: adopted)
        for name in removed { forget(name) }
        for index in pushes.indices where adopted.contains(pushes[index].push.name) {
            pushes[index].push.isDeclared = true
        }
        pushes += added.map { Listening(push: $0) }
        openSessions()
        // Sets the timer for another attempt if a session could not be opened.
        await startDue()
        onEvent(.changed)
    }

    /// Ends the subscription of a push that is no longer stored.
    private func forget(_ name: String) {
        guard let index = pushes.firstIndex(where: { $0.push.name == name }) else { return }
        pushes.remove(at: index).session?.end(forgetting: true)
        for continuation in awaitingReport.removeValue(forKey: name) ?? [] { continuation.resume() }
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
            declared: push.isDeclared,
            url: push.address.description,
            topic: push.topic.description,
            state: listening.state,
            received: push.received,
            ignored: push.ignored,
            lastError: mayWork ? listening.lastError : PushError.suspended.description
        )
    }
}

extension StoredPush {
    /// Creates a new push with an identifier of its own.
    ///
    /// - Throws: ``BrokerAddressError`` or ``TopicFilterError``.
    fileprivate init(_ request: PushRequest, isDeclared: Bool = false) throws {
        self.init(
            name: request.name,
            address: try BrokerAddress(request.url),
            topic: try TopicFilter(request.topic),
            credentials: request.credentials,
            clientID: StoredPush.randomClientID(),
            isDeclared: isDeclared
        )
    }

    /// Returns whether this subscribes to the same topic of the same broker as `other`, with the same credentials.
    fileprivate func isSame(as other: StoredPush) -> Bool {
        address == other.address && topic == other.topic && credentials == other.credentials
    }
}
