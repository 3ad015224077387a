package import FoundationEssentials

/// The state of the whole service.
package struct ServiceStatus: Codable, Hashable, Sendable {
    package var version: String
    package var pid: Int32
    /// Seconds since the start of the service, with the time that the machine slept; absent in the reply of version 0.1.
    package var uptime: Double?
    package var state: ApplicationState
    /// Since when `state` has its value.
    package var since: Date
    /// The number of attached clients, including stalled ones.
    package var attached: Int
    /// The declared modes, which continue while no client is attached.
    package var modes: [BackgroundMode]
    package var location: LocationStatus?
    package var audio: AudioStatus?
    /// The open tasks; absent if there are none.
    package var tasks: [BackgroundTask]?
    /// The fetch sources; absent if there are none.
    package var fetch: [FetchSource]?
    /// The open transfers; absent if there are none.
    package var transfers: [Transfer]?
    /// The publishers; absent if there are none.
    package var publishers: [PublisherStatus]?
    /// The health of the storage.
    package var health: StorageHealth?

    /// Creates a service status.
    package init(
        version: String,
        pid: Int32,
        uptime: Double? = nil,
        state: ApplicationState,
        since: Date,
        attached: Int,
        modes: [BackgroundMode],
        location: LocationStatus? = nil,
        audio: AudioStatus? = nil,
        tasks: [BackgroundTask]? = nil,
        fetch: [FetchSource]? = nil,
        transfers: [Transfer]? = nil,
        publishers: [PublisherStatus]? = nil,
        health: StorageHealth? = nil
    ) {
        self.version = version
        self.pid = pid
        self.uptime = uptime
        self.state = state
        self.since = since
        self.attached = attached
        self.modes = modes
        self.location = location
        self.audio = audio
        self.tasks = tasks
        self.fetch = fetch
        self.transfers = transfers
        self.publishers = publishers
        self.health = health
    }
}

/// The states of the service, in UIKit's words for an app.
package enum ApplicationState: String, Codable, Sendable {
    /// A client is attached.
    case active
    /// Clients are attached, and none of them reads.
    case inactive
    /// No client is attached, and a mode is at work.
    case background
    /// No client is attached, and nothing is due.
    case suspended
}

/// A mode that can continue while no client is attached.
package enum BackgroundMode: String, Codable, CaseIterable, Sendable {
    case audio, location, fetch
    case remoteNotification = "remote-notification"
}
