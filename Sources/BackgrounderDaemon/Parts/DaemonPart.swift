import BackgrounderAPI
import ControlServer
import Logging
import NIOCore
import ServiceLifecycle
import StateStore
import SystemSupport
import WebSupport

/// A part of the service that provides one background mode.
protocol DaemonPart: Sendable {
    /// The services that run as long as the daemon.
    var services: [any Service] { get }

    /// Returns whether the part has work to do, which makes the service `background` instead of `suspended`.
    func isAtWork() async -> Bool

    /// Called when the first client attaches, before it sees anything, when the last one detaches, and once at the start.
    func apply(isAnyoneAttached: Bool) async

    /// Called after the configuration was read again.
    ///
    /// - Parameter changed: the names of the keys whose values changed.
    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async

    /// Called at the start and after the configuration was read again, to adopt what it declares.
    func declare(_ configuration: DaemonConfiguration) async throws

    /// Called when the database can be written again, to store what waits in memory.
    func storeWaiting() async

    /// Adds the routes of the part.
    func addRoutes(to router: inout ControlRouter)

    /// Adds the state of the part to `status`.
    func report(in status: inout ServiceStatus) async

    /// Adds what the part counts to `metrics`.
    func report(in metrics: inout MetricsText) async
}

extension DaemonPart {
    var services: [any Service] { [] }
    func isAtWork() async -> Bool { false }
    func apply(isAnyoneAttached: Bool) async {}
    func reload(_ configuration: DaemonConfiguration, changed: Set<String>, isAnyoneAttached: Bool) async {}
    func declare(_ configuration: DaemonConfiguration) async throws {}
    func storeWaiting() async {}
    func addRoutes(to router: inout ControlRouter) {}
    func report(in status: inout ServiceStatus) async {}
    func report(in metrics: inout MetricsText) async {}
}

/// The dependencies of all parts.
struct PartContext: Sendable {
    let paths: RuntimePaths
    /// The configuration at the start; ``preferences`` has the current one.
    let initialConfiguration: DaemonConfiguration
    let store: StateStore
    let preferences: Preferences
    let modes: Modes
    let clock: any Clock<Duration>
    let group: any EventLoopGroup
    /// Variables for the commands that the service runs.
    let commandEnvironment: [String: String]
    let web: WebClients
    let log: DaemonLog
    let logger: Logger
    let backgroundLog: BackgroundLog
    let events: EventRelay

    /// Checks that `mode` may work now.
    ///
    /// - Throws: a `conflict` if it is not declared and no client is attached.
    func require(_ mode: BackgroundMode) throws(WireError) {
        try modes.require(mode, isAnyoneAttached: events.attached > 0)
    }
}
