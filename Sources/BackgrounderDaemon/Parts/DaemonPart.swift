import BackgroundFetch
import BackgrounderAPI
import ControlServer
import Logging
import NIOCore
import ServiceLifecycle
import StateStore

/// A background mode beside the two that are always there, as the service holds it.
protocol DaemonPart: Sendable {
    /// Runs with the service, and ends with it.
    var services: [any Service] { get }

    /// Whether it has work in hand, which makes the service `background` instead of `suspended`.
    func isAtWork() async -> Bool

    /// The first client attached, before it sees anything; or the last one left. Also called once when the service begins.
    func apply(isAnyoneAttached: Bool) async

    func addRoutes(to router: inout ControlRouter)

    /// Puts what it has to say into `status`.
    func report(in status: inout ServiceStatus) async
}

extension DaemonPart {
    var services: [any Service] { [] }
    func isAtWork() async -> Bool { false }
    func apply(isAnyoneAttached: Bool) async {}
    func addRoutes(to router: inout ControlRouter) {}
    func report(in status: inout ServiceStatus) async {}
}

/// What all parts are built with.
struct PartContext: Sendable {
    let paths: RuntimePaths
    let configuration: DaemonConfiguration
    let store: StateStore
    let modes: Modes
    let clock: any Clock<Duration>
    let group: any EventLoopGroup
    /// Variables of the commands that the service runs.
    let commandEnvironment: [String: String]
    let web: WebClients
    let log: DaemonLog
    let logger: Logger
    /// How many clients are attached now.
    let attached: @Sendable () -> Int
    /// Tells the readers of the event stream.
    let post: @Sendable (Event) -> Void
    /// Something changed that no event carries, or the part begins or ends to be at work.
    let changed: @Sendable () -> Void
}
