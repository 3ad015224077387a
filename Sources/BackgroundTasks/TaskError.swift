package import BackgrounderAPI
package import ChildProcesses

/// Why the scheduler refuses a request.
package enum TaskError: Error, Hashable, Sendable {
    case invalid(String)
    case invalidTimes(TaskTimesError)
    case tooMany(limit: Int)
    case noSuchTask(id: Int)
    /// The task has ended already.
    case over(id: Int, state: BackgroundTaskState)
    case endsAlready(id: Int)
    /// The task was stored, but its command could not be started.
    case cannotStart(id: Int, SpawnFailure)
    case hookExists(name: String)
    /// The configuration file declares the hook.
    case hookDeclared(name: String, file: String)
    case noSuchHook(name: String)
    /// The hook begins when the last client detaches.
    case notForPlaces(name: String)
    case tooManyHooks(limit: Int)
    /// The service is stopping.
    case stopping
}

extension TaskError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalid(let reason): reason
        case .invalidTimes(let error): error.description
        case .tooMany(let limit): "cannot begin the task: \(limit) are open, the maximum"
        case .noSuchTask(let id): "no task \(id)"
        case .over(let id, let state): "task \(id) is over: \(state.rawValue)"
        case .endsAlready(let id): "task \(id) is already ending"
        case .cannotStart(_, let failure): failure.description
        case .hookExists(let name): "the hook \(name) already exists"
        case .hookDeclared(let name, let file): "the hook \(name) is declared in \(file)"
        case .noSuchHook(let name): "no hook \(name)"
        case .notForPlaces(let name): "the hook \(name) is not for places"
        case .tooManyHooks(let limit): "cannot add the hook: \(limit) exist, the maximum"
        case .stopping: "the service is stopping"
        }
    }
}
