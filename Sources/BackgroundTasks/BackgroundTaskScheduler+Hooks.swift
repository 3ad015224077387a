package import BackgrounderAPI
import Logging
import SystemSupport

// The hooks: commands that begin as tasks when the last client detaches, or when a rule of a place names them.
extension BackgroundTaskScheduler {
    /// Returns the hooks, ordered by name.
    package func taskHooks() -> [TaskHook] { hooks.sorted { $0.name < $1.name } }

    /// Stores `request`, which then begins as a task at each event that it names.
    ///
    /// - Throws: ``TaskError``, or the error of the journal.
    package func addHook(_ request: TaskRequest) async throws -> TaskHook {
        let hook = TaskHook(request, try check(request))
        await hookTurn.begin()
        defer { hookTurn.end() }
        guard !hooks.contains(where: { $0.name == hook.name }) else { throw TaskError.hookExists(name: hook.name) }
        guard hooks.count < TaskLimits.hooks else { throw TaskError.tooManyHooks(limit: TaskLimits.hooks) }
        try await journal.changeHooks(removing: [], adding: [hook])
        hooks.append(hook)
        return hook
    }

    /// Removes a hook; tasks that it began continue.
    ///
    /// - Throws: ``TaskError/noSuchHook(name:)``, ``TaskError/hookDeclared(name:file:)``, or the error of the journal.
    package func removeHook(_ name: String) async throws {
        await hookTurn.begin()
        defer { hookTurn.end() }
        guard let hook = hooks.first(where: { $0.name == name }) else { throw TaskError.noSuchHook(name: name) }
        if hook.declared { throw TaskError.hookDeclared(name: name, file: declarationFile) }
        try await journal.changeHooks(removing: [name], adding: [])
        hooks.removeAll { $0.name == name }
    }

    /// Makes the declared hooks those of `requests`, in one transaction: adds, changes and removes hooks.
    ///
    /// Hooks that a command added stay. One with a declared name becomes a declared one.
    ///
    /// - Parameters:
    ///   - requests: requests with different names.
    ///   - file: the configuration file, for errors of commands.
    /// - Throws: ``TaskError``, or the error of the journal; nothing changes then.
    package func declareHooks(_ requests: [TaskRequest], in file: String) async throws {
        var declared: [TaskHook] = []
        for request in requests {
            var hook = TaskHook(request, try check(request))
            hook.declared = true
            declared.append(hook)
        }
        await hookTurn.begin()
        defer { hookTurn.end() }
        declarationFile = file
        let added = declared.filter { !hooks.contains($0) }
        let removed = hooks.filter { hook in
            hook.declared && !declared.contains(hook) || added.contains { $0.name == hook.name }
        }.map(\.name)
        guard !(added.isEmpty && removed.isEmpty) else { return }
        guard hooks.count - removed.count + added.count <= TaskLimits.hooks else {
            throw TaskError.tooManyHooks(limit: TaskLimits.hooks)
        }
        try await journal.changeHooks(removing: removed, adding: added)
        hooks.removeAll { removed.contains($0.name) }
        hooks += added
    }

    /// Begins the task of a hook for places.
    ///
    /// - Parameter variables: added to the environment of the hook, also with names that a request may not set.
    /// - Throws: ``TaskError``, or the error of the journal.
    package func runHook(_ name: String, adding variables: [String: String]) async throws -> BackgroundTask {
        guard let hook = hooks.first(where: { $0.name == name }) else { throw TaskError.noSuchHook(name: name) }
        guard hook.on == .place else { throw TaskError.notForPlaces(name: name) }
        return try await begin(hook, adding: variables)
    }

    private func begin(_ hook: TaskHook, adding variables: [String: String] = [:]) async throws -> BackgroundTask {
        var request = TaskRequest(
            name: hook.name,
            command: hook.command,
            directory: hook.directory,
            environment: hook.environment,
            budget: hook.budget,
            grace: hook.grace,
            strict: hook.strict,
            repeat: hook.repeat
        )
        let times = try check(request)
        request.environment = hook.environment.merging(variables) { $1 }
        return try await begin(request, times)
    }

    func runDetachHooks() async {
        for hook in taskHooks() where hook.on == .detach {
            do {
                _ = try await begin(hook)
            } catch TaskError.stopping {
                // The clients detached because the service is stopping.
                return
            } catch {
                logger.error("Cannot begin the task of the hook \(hook.name): \(error)")
            }
        }
    }
}

extension TaskHook {
    fileprivate init(_ request: TaskRequest, _ times: TaskTimes) {
        self.init(
            name: request.name,
            on: request.on ?? .detach,
            command: request.command,
            directory: request.directory,
            environment: request.environment ?? [:],
            budget: times.budget.roundedSeconds,
            grace: times.grace.roundedSeconds,
            strict: request.strict ?? false,
            repeat: request.repeat ?? false
        )
    }
}
