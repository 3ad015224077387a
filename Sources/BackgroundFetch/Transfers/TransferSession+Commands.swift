package import BackgrounderAPI
import FoundationEssentials
import Glibc

extension TransferSession {
    /// Takes a new transfer; it is stored when this returns.
    ///
    /// - Parameter namer: who named its URL: a server must not lead to local addresses.
    package func add(
        _ request: TransferRequest,
        namedBy namer: URLNamer = .user
    ) async throws(TransferError) -> Transfer {
        guard entries.count < configuration.limits.open else { throw .tooMany(configuration.limits.open) }
        let session = request.session ?? TransferRequest.defaultSession
        let isName =
            (1...100).contains(session.utf8.count) && session.withoutControlCharacters == session
            && !session.utf8.contains(UInt8(ascii: "/"))
        guard isName else { throw .session(session) }
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
        let limit = request.sizeMax ?? configuration.limits.size
        guard limit > 0 else { throw .sizeLimit }
        let digest = request.sha256?.lowercased()
        if let digest, !SHA256.isDigest(digest) { throw .digest(request.sha256 ?? "") }

        if let path = request.credentials {
            guard path.isAbsolutePath, !path.utf8.contains(0) else { throw .relative(path) }
            do throws(CredentialsError) { _ = try await WebCredentials.read(path) } catch { throw .credentials(error) }
        }

        let exists = request.exists ?? .fail
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
                discretionary: request.discretionary ?? false
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

    /// Stops it where it is, until ``resume(_:)``. Also stops one that cannot be stored; its `error` then says so.
    package func pause(_ id: Int) async throws(TransferError) -> Transfer {
        try await stop(id, .pause)
        // Its attempt was the one that ended it.
        guard var record = openRecord(id) else { return try await transfer(id) }
        let isNew = record.transfer.state != .paused
        // Not the words of a pause before that could not be stored.
        if !isNew { record.transfer.error = nil }
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (.paused, nil, nil)
        await settle(record)
        if isNew { schedule() }
        return try await transfer(id)
    }

    /// Ends a pause or a wait, so that the transfer continues. This is stored first.
    package func resume(_ id: Int) async throws(TransferError) -> Transfer {
        guard var record = openRecord(id) else { throw try await missing(id) }
        let state = record.transfer.state
        guard entries[id]?.runner == nil, state == .paused || state == .waiting else { return record.transfer }
        (record.transfer.state, record.transfer.waitingFor, record.detail.next) = (.queued, nil, nil)
        record.transfer.attempts = 0
        if state == .paused { record.transfer.error = nil }
        record.detail.since = now()
        // Otherwise a timer could store the old state after the new one.
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        do {
            try await journal.save(record, ended: nil)
        } catch {
            if let old = entries[id]?.record, old.transfer.state == state {
                if state == .paused { storeLater(old) } else { arm(id, after: configuration.limits.lookAgain) }
            }
            throw .cannotStore("\(error)")
        }
        // Meanwhile it may have been cancelled, or its wait may have ended.
        if let entry = entries[id], entry.end == nil, entry.runner == nil, entry.record.transfer.state == state {
            entries[id]?.busyLooks = configuration.limits.busyLooks
            entries[id]?.record = record
            onChange(record.transfer, false)
            schedule()
        }
        return try await transfer(id)
    }

    /// Ends the transfer and removes the part of the file that has arrived. If the end cannot be stored, the transfer waits for
    /// the disk, and its `error` says so.
    package func cancel(_ id: Int) async throws(TransferError) -> Transfer {
        try await stop(id, .cancel)
        // Its attempt was the one that ended it.
        guard let record = openRecord(id) else { return try await transfer(id) }
        await giveUp(record, .cancelled)
        schedule()
        return try await transfer(id)
    }

    /// Ends the attempt that runs, if one does, and returns when it has ended.
    private func stop(_ id: Int, _ intent: Intent) async throws(TransferError) {
        guard let entry = entries[id], entry.end == nil else { throw try await missing(id) }
        entries[id]?.timer?.cancel()
        entries[id]?.timer = nil
        guard let runner = entry.runner else { return }
        entries[id]?.intent = intent
        runner.cancel()
        await runner.value
    }

    /// Those that are open, and the newest of those that are over; by id.
    package func transfers() async throws -> [Transfer] {
        try await journal.transfers().map { entries[$0.id]?.record.transfer ?? $0 }
    }

    package func transfer(_ id: Int) async throws(TransferError) -> Transfer {
        if let transfer = entries[id]?.record.transfer { return transfer }
        guard let transfer = try? await journal.transfer(id) else { throw .noSuchTransfer(id) }
        return transfer
    }

    private func missing(_ id: Int) async throws(TransferError) -> TransferError {
        if let end = entries[id]?.end { return .isOver(id, end) }
        return .isOver(id, try await transfer(id).state)
    }

    /// What there is to act on; `nil` also while the end is being stored.
    private func openRecord(_ id: Int) -> TransferRecord? {
        entries[id].flatMap { $0.end == nil ? $0.record : nil }
    }

    /// What was not acknowledged yet, oldest first.
    package func events(of session: String) async throws -> [TransferEvent] {
        guard let events = try await journal.events(of: session) else { throw TransferError.noSuchSession(session) }
        return events
    }

    /// Takes the events up to `seq` away.
    ///
    /// - Returns: those that are left.
    package func acknowledge(_ session: String, through seq: Int) async throws -> [TransferEvent] {
        guard let events = try await journal.acknowledge(session, through: seq, at: now()) else {
            throw TransferError.noSuchSession(session)
        }
        return events
    }
}

/// Looks at the disk for a new transfer, on a thread that may wait.
private actor TransferChecker {
    private let configuration: TransferConfiguration
    private let executor: DiskExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: TransferConfiguration, executor: DiskExecutor) {
        (self.configuration, self.executor) = (configuration, executor)
    }

    /// The absolute path of the file that is to be: a folder, or what ends with a slash, takes the name from the URL.
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
            throw isFolder ? .name(error) : .notAFolder(path, reason: "its name is none for a file: \(error)")
        }
        let folder = isFolder && !last.isEmpty ? path : parent
        let entry = try DestinationFolder(folder, roots: configuration.roots).entry(name)
        let file = "\(folder)/\(name)"
        if exists == .fail, entry != nil { throw .exists(file) }
        if exists == .overwrite, let entry, !entry.isRegularFile { throw .notAFile(file) }
        return file
    }

    /// The file that is to be sent, as it is now.
    func source(_ path: String) async throws(TransferError) -> FileVersion {
        guard path.isAbsolutePath, !path.utf8.contains(0) else { throw .relative(path) }
        let isInRoots = configuration.roots.contains { isPath(path, in: $0) }
        guard !configuration.sendsOnlyFromRoots || isInRoots else {
            throw .outsideRoots(path, roots: configuration.roots)
        }
        let version = try await SentFile(executor: executor).open(path)
        guard configuration.sendsOnlyFromRoots else { return version }
        // Not by a link in a root either.
        let (folder, name) = splitPath(path)
        let entry = try DestinationFolder(folder, roots: configuration.roots).entry(String(name))
        guard entry.map(FileIdentity.init) == version.identity else { throw .notAFile(path) }
        return version
    }
}
