package import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import WebSupport

extension FetchScheduler {
    /// Returns all sources in the order in which they were added.
    package func list() -> [FetchSource] {
        let date = now()
        return names.compactMap { value($0, at: date) }
    }

    /// Returns the source `name` with its state and its next run.
    ///
    /// - Throws: ``FetchError/noSuchSource(_:)``.
    package func source(_ name: String) throws(FetchError) -> FetchSource {
        guard let source = value(name, at: now()) else { throw .noSuchSource(name) }
        return source
    }

    /// Whether there is a source `name`.
    package func hasSource(_ name: String) -> Bool { sources[name] != nil }

    /// Adds a source and returns it.
    ///
    /// - Throws: ``FetchError`` if the definition is invalid, its credentials cannot be read, the name exists, there
    ///   are too many sources, or the source cannot be stored.
    package func add(_ definition: FetchDefinition) async throws(FetchError) -> FetchSource {
        if let problem = definition.problem { throw .invalid(problem) }
        if let path = definition.credentials {
            do throws(CredentialsError) { _ = try await WebCredentials.read(path) } catch { throw .credentials(error) }
        }
        let name = definition.name
        try await changing { () throws(FetchError) in
            guard sources[name] == nil else { throw .exists(name) }
            guard sources.count < FetchLimits.sourceLimit else { throw .tooMany(FetchLimits.sourceLimit) }
            let source = Source(definition: definition, isDeclared: false, state: FetchSourceState(since: now()))
            try await save([.added(definition, state: try source.encodedState(), isDeclared: false)])
            sources[name] = source
            names.append(name)
        }
        return try source(name)
    }

    /// Changes the interval or the budget of a source, discards its plan, and returns the source.
    package func change(_ name: String, _ change: FetchSourceChange) async throws(FetchError) -> FetchSource {
        if let problem = change.interval?.problem { throw .invalid(problem) }
        if let problem = change.budget.flatMap(FetchDefinition.problem(ofBudget:)) { throw .invalid(problem) }
        try await changing { () throws(FetchError) in
            guard var source = sources[name] else { throw .noSuchSource(name) }
            if source.isDeclared { throw .declared(name, file: declarationFile) }
            source.definition.interval = change.interval ?? source.definition.interval
            source.definition.budget = change.budget ?? source.definition.budget
            try await save([.changed(source.definition, isDeclared: false)])
            sources[name]?.definition = source.definition
            sources[name]?.planEnd = .distantPast
        }
        return try source(name)
    }

    /// Removes a source and everything stored for it. A current run is cancelled, and has ended when this returns.
    package func remove(_ name: String) async throws(FetchError) {
        var cancelled: Task<FetchRun, Never>?
        try await changing { () throws(FetchError) in
            guard let source = sources[name] else { throw .noSuchSource(name) }
            if source.isDeclared { throw .declared(name, file: declarationFile) }
            try await save([.removed(name)])
            cancelled = forget(name)
        }
        _ = await cancelled?.value
    }

    /// Forgets a source that is no longer stored.
    ///
    /// - Returns: its current run, which is cancelled.
    func forget(_ name: String) -> Task<FetchRun, Never>? {
        sources[name] = nil
        names.removeAll { $0 == name }
        waiting[name] = nil
        untold[name] = nil
        // Within the turn, before a source of the same name can be added.
        running[name]?.isRemoved = true
        running[name]?.task.cancel()
        return running[name]?.task
    }

    /// Deletes the content of a source, with its validators, its freshness and the number of unseen items.
    package func clear(_ name: String) async throws(FetchError) -> FetchSource {
        try await changing { () throws(FetchError) in
            guard var source = sources[name] else { throw .noSuchSource(name) }
            source.state.validators = nil
            source.state.digest = nil
            source.state.updated = nil
            source.state.serverFloor = nil
            source.state.freshness = nil
            source.state.timeToLive = nil
            source.unseen = 0
            try await save([.cleared(name), try source.change()])
            adopt(source)
        }
        return try source(name)
    }

    /// Records an open of a source: its items count as seen, its habit learns the time, and a `quit` ends.
    package func open(_ name: String) async throws(FetchError) -> FetchSource {
        guard sources[name] != nil else { throw .noSuchSource(name) }
        try await open([name])
        return try source(name)
    }

    /// Records an open of several sources in one transaction.
    func open(_ opened: [String]) async throws(FetchError) {
        try await changing { () throws(FetchError) in
            let date = now()
            let open = FetchOpen(at: date, secondsFromGMT: zone.secondsFromGMT(date))
            let isClockSet = date >= .earliestOfSetClock
            var (changes, looks, changed) = ([FetchChange](), [String](), [Source]())
            for name in opened {
                guard var source = sources[name] else { continue }
                let last = source.opens.last?.at ?? .distantPast
                if isClockSet, abs(date.timeIntervalSince(last)) >= FetchLimits.sameLook {
                    looks.append(name)
                    source.opens.append(FetchOpen(at: date, secondsFromGMT: open.secondsFromGMT))
                    source.opens = source.opens.suffix(FetchLimits.openLimit)
                    source.planEnd = .distantPast
                }
                if source.unseen > 0 || source.state.hasQuit {
                    source.unseen = 0
                    source.state.hasQuit = false
                    changes.append(try source.change())
                }
                changed.append(source)
            }
            if !looks.isEmpty { changes.append(.opened(looks, open)) }
            guard !changes.isEmpty else { return }
            try await save(changes)
            for source in changed {
                adopt(source)
                sources[source.definition.name]?.opens = source.opens
                sources[source.definition.name]?.planEnd = source.planEnd
            }
        }
    }

    /// Turns background refresh on or off, for all sources or for one, and returns the new status.
    package func refresh(_ change: RefreshChange) async throws(FetchError) -> RefreshReply {
        if change.untilOpen == true, change.enabled || change.source == nil {
            throw .invalid("untilOpen is valid only when one source is turned off")
        }
        try await changing { () throws(FetchError) in
            guard let name = change.source else {
                do {
                    try await journal.save(isOn: change.enabled)
                } catch {
                    throw .notSaved("\(error)")
                }
                isOn = change.enabled
                return
            }
            guard var source = sources[name] else { throw .noSuchSource(name) }
            if change.enabled {
                source.state.isOff = false
                source.state.hasQuit = false
                source.state.isGone = false
            } else if change.untilOpen == true {
                source.state.hasQuit = true
            } else {
                source.state.isOff = true
            }
            try await save([try source.change()])
            adopt(source)
        }
        return refreshStatus()
    }

    /// Returns whether background refresh is on, overall and for each source.
    package func refreshStatus() -> RefreshReply {
        let status: RefreshStatus = isSuspended ? .restricted : isOn ? .available : .denied
        let each = list().map { RefreshReply.Source(source: $0.name, status: $0.refresh) }
        return RefreshReply(status: status, sources: each)
    }

    /// Returns a source as clients see it; `nil` if it does not exist.
    private func value(_ name: String, at date: Date) -> FetchSource? {
        let timing = timing(name, at: date)
        guard let source = sources[name] else { return nil }
        let (definition, state) = (source.definition, source.state)
        let isOff = FetchTiming.switchedOff(state, isOn: isOn) != nil
        let (next, why): (Date?, String) =
            switch timing {
            case .window(let window, .predicted, let why): (window.deadline, why)
            case .window(let window, _, let why): (window.earliest, why)
            case .never(let why): (nil, why)
            }
        return FetchSource(
            name: name,
            declared: source.isDeclared,
            kind: definition.kind,
            url: definition.url,
            command: definition.command,
            interval: definition.interval,
            budget: definition.budget,
            state: isOff ? .off : .active,
            refresh: isSuspended ? .restricted : isOff && !state.isGone ? .denied : .available,
            updated: state.updated,
            download: definition.download,
            next: next,
            why: why.replacing("NAME", with: name),
            failures: state.failures,
            lastError: state.lastError,
            unseen: source.unseen,
            runsPerDay: definition.interval == .minimum ? runsPerDay(source, at: date) : nil,
            pending: running[name].flatMap { $0.isRemoved ? nil : PendingFetch(id: $0.run.id, at: $0.run.began) }
        )
    }

    /// Makes a change while no other one is in progress, then adapts plans and timer to it. It is reported with the new
    /// plans.
    func changing(_ body: () async throws(FetchError) -> Void) async throws(FetchError) {
        let result: Result<Void, FetchError> = await exclusively {
            do throws(FetchError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
        await refreshPlans()
        onEvent(.changed)
        wake()
    }

    func save(_ changes: [FetchChange]) async throws(FetchError) {
        do {
            try await journal.save(changes)
        } catch {
            throw .notSaved("\(error)")
        }
    }
}

extension FetchScheduler {
    /// Runs `body` while no other change is being stored, so that memory and store see all changes in the same order.
    func exclusively<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        await turn.begin()
        defer { turn.end() }
        return try await body()
    }

    /// Adopts the state of `source`, which has been stored.
    func adopt(_ source: Source) {
        let name = source.definition.name
        sources[name]?.state = source.state
        sources[name]?.unseen = source.unseen
        sources[name]?.isOverdue = source.isOverdue
    }
}

extension FetchScheduler.Source {
    /// Returns the change that stores the state of the source.
    func change() throws(FetchError) -> FetchChange {
        .state(definition.name, try encodedState(), unseen: unseen)
    }

    /// Returns the state as JSON.
    func encodedState() throws(FetchError) -> Data {
        do {
            return try JSON.encode(state)
        } catch {
            throw .notSaved("\(error)")
        }
    }
}
