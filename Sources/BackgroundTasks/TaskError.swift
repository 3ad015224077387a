package import BackgrounderAPI
package import ChildProcesses

/// Why the scheduler refuses something.
package enum TaskError: Error, Hashable, Sendable {
    case invalid(String)
    case invalidTimes(TaskTimesError)
    case tooMany(limit: Int)
    case noSuchTask(id: Int)
    /// A second end.
    case over(id: Int, state: BackgroundTaskState)
    case endsAlready(id: Int)
    /// It was stored, and its command could not be started.
    case cannotStart(id: Int, SpawnFailure)
    case hookExists(name: String)
    case noSuchHook(name: String)
    case tooManyHooks(limit: Int)
    /// The service stops.
    case stopping
}

extension TaskError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invalid(let reason): reason
        case .invalidTimes(let error): error.description
        case .tooMany(let limit): "\(limit) tasks are open, and that is the most"
        case .noSuchTask(let id): "there is no task \(id)"
        case .over(let id, let state): "task \(id) is over: \(state.rawValue)"
        case .endsAlready(let id): "task \(id) was ended already, and is about to go"
        case .cannotStart(_, let failure): failure.description
        case .hookExists(let name): "there is a hook \(name) already"
        case .noSuchHook(let name): "there is no hook \(name)"
        case .tooManyHooks(let limit): "\(limit) hooks are there, and that is the most"
        case .stopping: "the service stops"
        }
    }
}
