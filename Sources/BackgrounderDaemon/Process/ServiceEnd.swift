import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Synchronization

/// The end of the service. The first call stops it gracefully, within 2 s even if a part hangs; the second ends it immediately.
///
/// Everything is stored when it changes, so an immediate end loses nothing.
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

    /// Sets the services to stop.
    func connect(_ services: ServiceGroup) {
        state.withLock { $0 = .running(services) }
    }

    /// Begins or hastens the end. Returns immediately, even if the executor or the log hangs.
    func begin() {
        let before = state.withLock { state in
            defer { state = .ending }
            return state
        }
        switch before {
        case .ending, .running(nil):
            leave()
        case .running(let services?):
            // Tuned: warns 0.1 s before it stops waiting, which leaves 0.2 s of the 2 s for the process to exit.
            queue.asyncAfter(deadline: .now() + 1.7) { [logger] in
                logger.warning("A part of the service hangs; stopping without waiting for it")
            }
            queue.asyncAfter(deadline: .now() + 1.8) { self.leave() }
            logger.info("Stopping")
            Readiness.notifySystemd("STOPPING=1", environment: environment)
            Task { await services.triggerGracefulShutdown() }
        }
    }

    private func leave() -> Never {
        for socket in sockets { unlink(socket) }
        _exit(0)
    }
}
