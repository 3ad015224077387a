package import BackgrounderAPI
package import FoundationEssentials
import MQTTClient
import SystemSupport
import WebSupport

/// The commands that change the publishers.
extension FleetPublisher {
    /// Stores a new publisher, which begins immediately.
    ///
    /// - Throws: ``PublisherError``, or an error of the journal.
    package func add(_ request: PublisherRequest) async throws -> PublisherStatus {
        if let problem = request.problem { throw PublisherError.invalid(problem) }
        do throws(CredentialsError) {
            try await QueueExecutor.credentials.run { () throws(CredentialsError) in
                if let path = request.credentials {
                    if request.isForServer {
                        _ = try WebCredentials(path: path)
                    } else {
                        _ = try BrokerCredentials(path: path)
                    }
                }
                if let file = request.certificate, let key = request.key {
                    try ClientCertificate(file: file, key: key).check()
                }
            }
        } catch {
            throw PublisherError.credentials(error)
        }
        if request.isForServer {
            do {
                let policy = await web.policy().forFetch(hasCredentials: request.credentials != nil)
                try policy.check(try WebURL(request.url))
            } catch {
                throw PublisherError.invalid("\(error)")
            }
        }
        await turn.begin()
        defer { turn.end() }
        guard !entries.contains(where: { $0.publisher.name == request.name }) else {
            throw PublisherError.exists(request.name)
        }
        guard entries.count < Self.most else { throw PublisherError.tooMany(limit: Self.most) }
        let publisher = try await publisher(request)
        try await journal.change(removing: [], adding: [publisher], adopting: [])
        entries.append(Entry(publisher: publisher))
        begin(entries.count - 1)
        onChange()
        return await status(entries[entries.count - 1])
    }

    /// Removes a publisher. Nothing of it stays at the broker.
    ///
    /// - Throws: ``PublisherError``, or an error of the journal.
    package func remove(_ name: String) async throws {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        if entries[index].publisher.isDeclared { throw PublisherError.declared(name, file: declarationFile) }
        await end([index], forgetting: true)
        do {
            try await journal.change(removing: [name], adding: [], adopting: [])
        } catch {
            begin(index)
            throw error
        }
        entries.remove(at: index)
        onChange()
    }

    /// Ends the connection of a publisher until ``resume(_:)``. Its points wait in the history.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func pause(_ name: String) async throws -> PublisherStatus { try await setPaused(true, name) }

    /// Continues after ``pause(_:)``.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func resume(_ name: String) async throws -> PublisherStatus { try await setPaused(false, name) }

    private func setPaused(_ isPaused: Bool, _ name: String) async throws -> PublisherStatus {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        if entries[index].publisher.isPaused != isPaused {
            try await journal.setPaused(isPaused, of: name)
            entries[index].publisher.isPaused = isPaused
            if isPaused { await end([index]) } else { begin(index) }
            onChange()
        }
        return await status(entries[index])
    }

    /// Sends the points of `time` and later again.
    ///
    /// - Throws: ``PublisherError/noSuchPublisher(_:)``, or an error of the journal.
    package func rewind(_ name: String, to time: Date) async throws -> PublisherStatus {
        await turn.begin()
        defer { turn.end() }
        let index = try index(name)
        let done = try await journal.lastPoint(before: time)
        entries[index].publisher.progress.done = done
        if let outbox = entries[index].outbox {
            await executor.run { outbox.rewind(to: done) }
            entries[index].session?.wake()
        } else {
            let progress = entries[index].publisher.progress
            try await executor.run { [journal] in try journal.save(progress, of: name) }
        }
        onChange()
        return await status(entries[index])
    }

    /// Makes the declared publishers those of `requests`, in one transaction: adds, changes and removes publishers.
    ///
    /// Publishers that a command added stay. One with a declared name becomes a declared one. If the machine or the address changes, it
    /// is another publisher, which begins with the next point.
    ///
    /// - Parameters:
    ///   - requests: valid requests with different names.
    ///   - file: the configuration file, for errors of commands.
    /// - Throws: ``PublisherError/tooMany(limit:)`` or an error of the journal; nothing changes then.
    package func declare(_ requests: [PublisherRequest], in file: String) async throws {
        await turn.begin()
        defer { turn.end() }
        declarationFile = file
        let declared = Set(requests.map(\.name))
        var removed = entries.indices.filter {
            entries[$0].publisher.isDeclared && !declared.contains(entries[$0].publisher.name)
        }
        var (added, adopted) = ([StoredPublisher](), [String]())
        for request in requests {
            var new = try await publisher(request)
            new.isDeclared = true
            let index = entries.firstIndex { $0.publisher.name == request.name }
            if let index, entries[index].publisher.isSame(as: new) {
                if !entries[index].publisher.isDeclared { adopted.append(request.name) }
            } else {
                if let index { removed.append(index) }
                added.append(new)
            }
        }
        guard !(removed.isEmpty && added.isEmpty && adopted.isEmpty) else { return }
        guard entries.count - removed.count + added.count <= Self.most else {
            throw PublisherError.tooMany(limit: Self.most)
        }
        // Before the change, so that no session saves its progress for a successor of the same name, and each deletes its retained
        // messages before a successor writes the same topics.
        await end(removed, forgetting: true)
        for index in added.indices {
            let old = entries.first { $0.publisher.name == added[index].name }?.publisher
            guard let old, old.hasSameCourse(as: added[index]) else { continue }
            (added[index].progress, added[index].isPaused) = (old.progress, old.isPaused)
        }
        let names = removed.map { entries[$0].publisher.name }
        do {
            try await journal.change(removing: names, adding: added, adopting: adopted)
        } catch {
            removed.forEach(begin)
            throw error
        }
        entries.removeAll { names.contains($0.publisher.name) }
        for index in entries.indices where adopted.contains(entries[index].publisher.name) {
            entries[index].publisher.isDeclared = true
        }
        for publisher in added {
            entries.append(Entry(publisher: publisher))
            begin(entries.count - 1)
        }
        onChange()
    }

    private func publisher(_ request: PublisherRequest) async throws -> StoredPublisher {
        let done: Int64
        if let since = request.since {
            done = try await journal.lastPoint(before: since)
        } else {
            done = try await journal.newestPointID()
        }
        return StoredPublisher(
            name: request.name,
            address: try PublisherAddress(request.url),
            machine: try MachineID(request.machine),
            topic: request.topic ?? "",
            isForHomeAssistant: request.homeAssistant ?? false,
            groups: try Set(request.groups ?? []).sorted().map { try MachineID($0) },
            credentials: request.credentials,
            certificate: request.certificate,
            key: request.key,
            progress: PublishProgress(done: done)
        )
    }
}

extension StoredPublisher {
    /// Returns whether this publishes the same machine to the same address as `other`.
    fileprivate func isSame(as other: StoredPublisher) -> Bool {
        hasSameCourse(as: other) && credentials == other.credentials && certificate == other.certificate
            && key == other.key && isForHomeAssistant == other.isForHomeAssistant && groups == other.groups
    }

    /// Returns whether the points of `other` go to the same topic of the same address.
    fileprivate func hasSameCourse(as other: StoredPublisher) -> Bool {
        address == other.address && machine == other.machine && topic == other.topic
    }
}
