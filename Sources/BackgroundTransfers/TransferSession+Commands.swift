package import BackgrounderAPI
import FoundationEssentials
import Glibc
import SystemSupport
package import WebSupport

extension TransferSession {
    /// Adds a transfer. It is stored when this returns.
    ///
    /// - Parameter namer: where the URL came from; a server on the Internet must not point to local addresses.
    package func add(
        _ request: TransferRequest,
        namedBy namer: URLNamer = .user
    ) async throws(TransferError) -> Transfer {
        guard entries.count < configuration.limits.open else { throw .tooMany(configuration.limits.open) }
        let session = request.session ?? TransferRequest.defaultSession
        guard TransferRequest.isSession(session) else { throw .session(session) }
        let defaults = declared[session]
        let url: WebURL
        do {
            url = try WebURL(request.url)
            try configuration.policy.check(url)
        } catch let error as RedirectError {
            if case .plain(let host) = error { throw .plain(host: host) }
            throw .url(.malformed(""))
        } catch let error as WebURLError {
            throw .url(error)
        } catch {
            throw .url(.malformed(""))
        }
        let limit = request.sizeMax ?? defaults?.sizeMax ?? configuration.limits.size
        guard limit > 0 else { throw .sizeLimit }
        let digest = request.sha256?.lowercased()
        if let digest, !SHA256.isDigest(digest) { throw .digest(request.sha256 ?? "") }

        if let path = request.credentials {
            guard path.isAbsolutePath, !path.utf8.contains(0) else { throw .relative(path) }
            do throws(CredentialsError) { _ = try await WebCredentials.read(path) } catch { throw .credentials(error) }
        }

        let exists = request.exists ?? defaults?.exists ?? .fail
        var detail = TransferDetail(
            url: request.url,
            sha256: digest,
            sizeLimit: limit,
            exists: exists,
            since: now()
        )
        detail.credentials = request.credentials
        detail.namer = namer == .user ? nil : namer
        let destination: String
        var total: Int64?
        let checker = TransferChecker(configuration: configuration, executor: checker)
        switch request.direction ?? .get {
        case .get:
            destination = try await checker.destination(request.destination, url: url, exists: exists)
        case .put:
            guard request.destination.isAbsolutePath else { throw .relative(request.destination) }
            destination = RuntimePaths.absolute(request.destination)
            let version = try await checker.source(destination)
            (detail.source, total) = (version, version.size)
            detail.idempotencyKey = UUID().uuidString
        }
        var record = TransferRecord(
            Transfer(
                id: 0,
                session: session,
                direction: request.direction ?? .get,
                url: "\(url)",
                destination: destination,
                total: total,
                discretionary: request.discretionary ?? defaults?.discretionary ?? false
            ),
            detail
        )
        do {
            record.transfer.id = try await journal.add(record)
        } catch {
            throw .cannotStore("\(error)")
        }
        entries[record.transfer.id] = Entry(record)
        schedule()
        return record.transfer
    }

    /// Pauses a transfer until ``resume(_:)``.
    ///
    /// If the pause cannot be saved, it takes effect nevertheless, `error` says so, and it is saved later.
    package func pause(_ id: Int) async throws -> Transfer {
        try await stop(id, .pause)
        // The attempt may have completed the transfer.
        guard var record = openRecord(id) else { return try await transfer(id) }
        let isNew = record.transfer.state != .paused
        // Clear the error of an earlier pause that could not be saved.
        if !isNew { record.transfer.error = nil }
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (.paused, nil, nil)
        await saveIdle(record)
        if isNew { schedule() }
        return try await transfer(id)
    }

    /// Ends a pause or a wait, so that the transfer continues. The change is saved first.
    package func resume(_ id: Int) async throws -> Transfer {
        guard var record = openRecord(id) else { throw try await missing(id) }
        let state = record.transfer.state
        guard entries[id]?.runner == nil, state == .paused || state == .waiting else { return record.transfer }
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (.queued, nil, nil)
        record.transfer.attempts = 0
        if state == .paused { record.transfer.error = nil }
        record.detail.since = now()
        // The timer could otherwise save the old state after the new one.
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        do {
            try await journal.save(record, ended: nil)
        } catch {
            if let old = entries[id]?.record, old.transfer.state == state {
                if state == .paused { storeLater(old) } else { arm(id, after: configuration.limits.lookAgain) }
            }
            throw TransferError.cannotStore("\(error)")
        }
        // The transfer may have been cancelled, or its wait may have ended, in the meantime.
        if let entry = entries[id], entry.end == nil, entry.runner == nil, entry.record.transfer.state == state {
            entries[id]?.busyLooks = configuration.limits.busyLooks
            entries[id]?.record = record
            tell(id)
            schedule()
        }
        return try await transfer(id)
    }

    /// Cancels a transfer and removes its part file.
    ///
    /// If this cannot be saved, the transfer waits for the disk, and `error` says so.
    package func cancel(_ id: Int) async throws -> Transfer {
        try await stop(id, .cancel)
        // The attempt may have completed the transfer.
        guard let record = openRecord(id) else { return try await transfer(id) }
        await giveUp(record, .cancelled)
        schedule()
        return try await transfer(id)
    }

    /// Stops the wait or the running attempt, and returns after the attempt has ended.
    private func stop(_ id: Int, _ intent: Intent) async throws {
        guard let entry = entries[id], entry.end == nil else { throw try await missing(id) }
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        guard let runner = entry.runner else { return }
        entries[id]?.intent = intent
        runner.cancel()
        await runner.value
    }

    /// Returns the open transfers and the newest ended ones, sorted by id.
    package func transfers() async throws -> [Transfer] {
        let all = try await journal.transfers()
        let time = elapsed()
        return all.map { entries[$0.id]?.transfer(at: time) ?? $0 }
    }

    /// Returns the transfer `id`, which may have ended.
    ///
    /// - Throws: ``TransferError/noSuchTransfer(_:)``, or the journal's error.
    package func transfer(_ id: Int) async throws -> Transfer {
        if let entry = entries[id] { return entry.transfer(at: elapsed()) }
        guard let transfer = try await journal.transfer(id) else { throw TransferError.noSuchTransfer(id) }
        return transfer
    }

    /// Removes the ended transfers from the list; their files and events stay.
    ///
    /// - Returns: the number of removed transfers.
    /// - Throws: the journal's error; nothing is removed then.
    package func clear() async throws -> Int { try await journal.removeEnded() }

    /// Returns the error for a command on a transfer that is not open.
    private func missing(_ id: Int) async throws -> TransferError {
        if let end = entries[id]?.end { return .isOver(id, end) }
        return .isOver(id, try await transfer(id).state)
    }

    /// Returns the record of a transfer that has not ended; `nil` also while its end is being saved.
    private func openRecord(_ id: Int) -> TransferRecord? {
        entries[id].flatMap { $0.end == nil ? $0.record : nil }
    }

    /// Replaces the declared sessions. Their defaults apply to transfers that are added from now on.
    package func declare(_ definitions: [SessionDefinition]) {
        declared = Dictionary(definitions.map { ($0.name, $0) }) { $1 }
    }

    /// Returns the sessions that ever had a transfer and the declared ones, by name.
    ///
    /// - Throws: an error of the journal.
    package func sessions() async throws -> [SessionStatus] {
        var all = Dictionary(try await journal.sessions().map { ($0.name, $0) }) { $1 }
        for (name, definition) in declared {
            var session = all[name] ?? SessionStatus(name: name)
            session.declared = true
            (session.discretionary, session.exists) = (definition.discretionary, definition.exists)
            session.sizeMax = definition.sizeMax
            all[name] = session
        }
        return all.values.sorted { $0.name < $1.name }
    }

    /// Returns the unacknowledged events of `session`, oldest first.
    ///
    /// - Throws: ``TransferError/noSuchSession(_:)``, or an error of the journal.
    package func events(of session: String) async throws -> [TransferEvent] {
        if let events = try await journal.events(of: session) { return events }
        guard declared[session] != nil else { throw TransferError.noSuchSession(session) }
        return []
    }

    /// Removes the events of `session` up to and including `seq`.
    ///
    /// - Returns: the remaining events.
    /// - Throws: ``TransferError/noSuchSession(_:)``, or an error of the journal.
    package func acknowledge(_ session: String, through seq: Int) async throws -> [TransferEvent] {
        if let events = try await journal.acknowledge(session, through: seq, at: now()) { return events }
        guard declared[session] != nil else { throw TransferError.noSuchSession(session) }
        return []
    }
}

/// Checks the files of a new transfer on an executor that may block.
private actor TransferChecker {
    private let configuration: TransferConfiguration
    private let executor: QueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: TransferConfiguration, executor: QueueExecutor) {
        (self.configuration, self.executor) = (configuration, executor)
    }

    /// Returns the absolute path of the file to create. If `text` is a folder or ends with a slash, the URL supplies
    /// the name.
    func destination(_ text: String, url: WebURL, exists: ExistingFile) throws(TransferError) -> String {
        guard text.isAbsolutePath, !text.utf8.contains(0) else { throw .relative(text) }
        let path = RuntimePaths.absolute(text)
        let (parent, last) = splitPath(path)
        var isFolder = last.isEmpty || text.utf8.last == UInt8(ascii: "/") || configuration.roots.contains(path)
        if !isFolder {
            isFolder = try DestinationFolder(parent, roots: configuration.roots).entry(String(last))?.isFolder ?? false
        }
        let name: String
        do {
            name = try isFolder ? url.fileName() : FileName.checked(String(last))
        } catch {
            throw isFolder ? .name(error) : .notAFolder(path, reason: "\(error)")
        }
        let folder = isFolder && !last.isEmpty ? path : parent
        let entry = try DestinationFolder(folder, roots: configuration.roots).entry(name)
        let file = "\(folder)/\(name)"
        if exists == .fail, entry != nil { throw .exists(file) }
        if exists == .overwrite, let entry, !entry.isRegularFile { throw .notAFile(file) }
        return file
    }

    /// Returns the current version of the file to send.
    func source(_ path: String) async throws(TransferError) -> FileVersion {
        guard path.isAbsolutePath, !path.utf8.contains(0) else { throw .relative(path) }
        let isInRoots = configuration.roots.contains { isPath(path, in: $0) }
        guard !configuration.sendsOnlyFromRoots || isInRoots else {
            throw .outsideRoots(path, roots: configuration.roots)
        }
        let version = try await SentFile(executor: executor).open(path)
        guard configuration.sendsOnlyFromRoots else { return version }
        // Nor through a symbolic link within a root.
        let (folder, name) = splitPath(path)
        let entry = try DestinationFolder(folder, roots: configuration.roots).entry(String(name))
        guard entry.map(FileIdentity.init) == version.identity else { throw .notAFile(path) }
        return version
    }
}
