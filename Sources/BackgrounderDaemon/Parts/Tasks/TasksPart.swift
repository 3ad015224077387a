package import BackgroundTasks
package import BackgrounderAPI
import ChildProcesses
import ControlServer
import FoundationEssentials
import Glibc
import ServiceLifecycle
import SystemSupport

/// The finite-length tasks as a part of the service.
struct TasksPart: DaemonPart {
    let scheduler: BackgroundTaskScheduler

    /// Creates the part and takes over the tasks that were running when the service was killed.
    init(_ context: PartContext) async throws {
        let journal = StoreTaskJournal(store: context.store)
        let folder = context.paths.state + "/tasks"
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw StartError("cannot create \(folder): \(systemMessage(errno)); use another --home")
        }
        scheduler = BackgroundTaskScheduler(
            try journal.saved(logger: context.logger),
            places: BackgroundTaskScheduler.Places(
                keeper: "/proc/self/exe",
                folder: folder,
                socketPrefix: context.paths.run + "/task",
                // A random id matches no other boot.
                boot: currentBootID() ?? UUID().uuidString,
                instance: try await journal.instance(),
                environment: context.commandEnvironment
            ),
            journal: journal,
            clock: context.clock,
            logger: context.logger
        ) { task in
            context.events.post(.task(task))
            context.events.workChanged()
        }
        await scheduler.resume()
    }

    var services: [any Service] { [scheduler] }
    func isAtWork() async -> Bool { await scheduler.isAtWork }
    func apply(isAnyoneAttached: Bool) async { await scheduler.apply(isAnyoneAttached: isAnyoneAttached) }
    func declare(_ configuration: DaemonConfiguration) async throws {
        try await scheduler.declareHooks(configuration.declarations.hooks, in: configuration.file)
    }
    func report(in status: inout ServiceStatus) async { status.tasks = await scheduler.openTasks() }

    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.tasks) { _ in await scheduler.tasks() }
        router.on(Routes.beginTask) { request in try await scheduler.begin(request.body) }
        router.on(Routes.beginSample) { request in
            try await scheduler.beginSample(budget: request.body.budget, grace: request.body.grace)
        }
        router.on(Routes.clearTasks) { _ in ClearReply(removed: try await scheduler.clear()) }
        router.on(Routes.task) { request in try await scheduler.task(request.id) }
        router.on(Routes.endTask) { request in try await scheduler.end(request.id) }
        router.on(Routes.taskLog) { request in try await scheduler.output(request.id) }
        router.on(Routes.taskHooks) { _ in await scheduler.taskHooks() }
        router.on(Routes.addTaskHook) { request in try await scheduler.addHook(request.body) }
        router.on(Routes.removeTaskHook) { request in
            try await scheduler.removeHook(request.name)
            return Empty()
        }
    }
}

extension TaskError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .invalid, .invalidTimes: WireError(.invalid, description)
        case .tooMany: WireError(.conflict, description, hint: "end one with `backgrounder task end ID`")
        case .noSuchTask: WireError(.notFound, description, hint: "`backgrounder task list` lists the ids")
        case .over, .endsAlready: WireError(.conflict, description, hint: "a task can be ended only once")
        case .cannotStart(_, let failure):
            WireError(
                .conflict,
                description,
                hint: failure.step == .program ? "check the name, the service's PATH and the file's mode" : nil
            )
        case .hookExists(let name):
            WireError(.conflict, description, hint: "remove it first with `backgrounder task unhook \(name)`")
        case .hookDeclared:
            WireError(.conflict, description, hint: "change the file, then run `backgrounder reload`")
        case .noSuchHook: WireError(.notFound, description, hint: "`backgrounder task hooks` lists them")
        case .notForPlaces: WireError(.conflict, description, hint: "add it with `task begin NAME --on place`")
        case .tooManyHooks: WireError(.conflict, description, hint: "remove one with `backgrounder task unhook NAME`")
        case .stopping: WireError(.unavailable, description)
        }
    }
}
