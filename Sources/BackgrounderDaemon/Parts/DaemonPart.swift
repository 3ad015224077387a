import BackgroundFetch
import BackgrounderAPI
import ControlServer
import Logging
import NIOCore
import ServiceLifecycle
import StateStore

/// A part of the service that provides one background mode.
protocol DaemonPart: Sendable {
    /// The services that run as long as the daemon.
    var services: [any Service] { get }

    /// Returns whether the part has work to do, which makes the service `background` instead of `suspended`.
    func isAtWork() async -> Bool

    /// Called when the first client attaches, before it sees anything, when the last one detaches, and once at the start.
    func apply(isAnyoneAttached: Bool) async

    /// Adds the routes of the part.
    func addRoutes(to router: inout ControlRouter)

    /// Adds the state of the part to `status`.
    func report(in status: inout ServiceStatus) async
}

extension DaemonPart {
    var services: [any Service] { [] }
    func isAtWork() async -> Bool { false }
    func apply(isAnyoneAttached: Bool) async {}
    func addRoutes(to router: inout ControlRouter) {}
    func report(in status: inout ServiceStatus) async {}
}

/// The dependencies of all parts.
struct PartContext: Sendable {
    let paths: RuntimePaths
    let configuration: DaemonConfiguration
    let store: StateStore
    let modes: Modes
    let clock: any Clock<Duration>
    let group: any EventLoopGroup
    /// Variables for the commands that the service runs.
    let commandEnvironment: [String: String]
    let web: WebClients
    let log: DaemonLog
    let logger: Logger
    /// Returns how many clients are attached.
    let attached: @Sendable () -> Int
    /// Posts an event to the readers of the event stream.
    let post: @Sendable (Event) -> Void
    /// Reports a change that no event carries, or the beginning or end of work.
    let changed: @Sendable () -> Void
}
