package import FoundationEssentials

/// The whole service at a glance.
package struct ServiceStatus: Codable, Hashable, Sendable {
    package var version: String
    package var pid: Int32
    package var state: ApplicationState
    /// Since when `state` is what it is.
    package var since: Date
    /// Clients that are attached, stalled ones included.
    package var attached: Int
    /// The declared modes: what may go on while nobody is attached.
    package var modes: [BackgroundMode]
    package var location: LocationStatus?
    package var audio: AudioStatus?
    /// The open ones.
    package var tasks: [BackgroundTask]?
    /// All sources.
    package var fetch: [FetchSource]?
    /// Those that are not over.
    package var transfers: [Transfer]?
    /// Whether what must be kept reaches the disk.
    package var health: StorageHealth?

    package init(
        version: String,
        pid: Int32,
        state: ApplicationState,
        since: Date,
        attached: Int,
        modes: [BackgroundMode],
        location: LocationStatus? = nil,
        audio: AudioStatus? = nil,
        tasks: [BackgroundTask]? = nil,
        fetch: [FetchSource]? = nil,
        transfers: [Transfer]? = nil,
        health: StorageHealth? = nil
    ) {
        self.version = version
        self.pid = pid
        self.state = state
        self.since = since
        self.attached = attached
        self.modes = modes
        self.location = location
        self.audio = audio
        self.tasks = tasks
        self.fetch = fetch
        self.transfers = transfers
        self.health = health
    }
}

/// The states of an app, as UIKit names them.
package enum ApplicationState: String, Codable, Sendable {
    /// A client is attached.
    case active
    /// Clients are attached, and none of them reads.
    case inactive
    /// Nobody is attached, and a mode is at work.
    case background
    /// Nobody is attached, and nothing is due.
    case suspended
}

/// What may go on while nobody is attached.
package enum BackgroundMode: String, Codable, CaseIterable, Sendable {
    case audio, location, fetch
    case remoteNotification = "remote-notification"
}
