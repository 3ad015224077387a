import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// The end of the service: at the first call gracefully and within 2 s whatever hangs, at the second at once.
///
/// All that matters is stored when it changes, so that an end at once loses nothing.
final class ServiceEnd: Sendable {
    private enum State {
        case running(ServiceGroup?)
        case ending
    }

    private let state = Mutex(State.running(nil))
    private let sockets: [String]
    private let environment: [String: String]
    private let logger: Logger
    private let queue = DispatchQueue(label: "backgrounder.end")

    init(sockets: [String], environment: [String: String], logger: Logger) {
        self.sockets = sockets
        self.environment = environment
        self.logger = logger
    }

    /// From now on there is something to end.
    func connect(_ services: ServiceGroup) {
        state.withLock { $0 = .running(services) }
    }

    /// Returns at once, and does not depend on the executor or the log, either of which may be what hangs.
    func begin() {
        let before = state.withLock { state in
            defer { state = .ending }
            return state
        }
        switch before {
        case .ending, .running(nil):
            leave()
        case .running(let services?):
            // judgement: leaves 0.2 s of the two for the process to be gone.
            queue.asyncAfter(deadline: .now() + 1.7) { [logger] in
                logger.warning("Something hangs; stopping without it.")
            }
            queue.asyncAfter(deadline: .now() + 1.8) { self.leave() }
            logger.info("Stopping.")
            Readiness.notifySystemd("STOPPING=1", environment: environment)
            Task { await services.triggerGracefulShutdown() }
        }
    }

    private func leave() -> Never {
        for socket in sockets { unlink(socket) }
        _exit(0)
    }
}
