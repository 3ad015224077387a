/// A call of the control API, declared once and used by client and server.
package struct Route<Body: RouteBody, Reply: Codable & Sendable>: Sendable {
    package var method: RouteMethod
    /// With `{name}` where a path component is a parameter.
    package var path: String
    /// The status of a successful response.
    package var status: Int
    /// The right that the caller needs.
    package var access: AccessLevel

    /// Declares a route.
    ///
    /// - Parameter access: the right that the caller needs (default `read` for a GET, `control` for other methods).
    package init(_ method: RouteMethod, _ path: String, status: Int = 200, access: AccessLevel? = nil) {
        self.method = method
        self.path = path
        self.status = status
        self.access = access ?? (method == .get ? .read : .control)
    }
}

/// The rights of a user of the control socket. Each level includes the ones before it.
package enum AccessLevel: String, Codable, CaseIterable, Comparable, Sendable {
    /// See status, track, queue, log and events.
    case read
    /// Change what the service plays and records, and stop it.
    case control
    /// Make the service run a command, or open a file or an address, with the rights of the service.
    case execute

    /// Returns whether `a` allows less than `b`.
    package static func < (a: AccessLevel, b: AccessLevel) -> Bool {
        a.rank < b.rank
    }

    private var rank: Int {
        switch self {
        case .read: 0
        case .control: 1
        case .execute: 2
        }
    }
}

/// The method of a route.
package enum RouteMethod: String, Sendable {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// The body of a request: a JSON object with only these keys.
package protocol RouteBody: Codable, Sendable {
    static var keys: [String] { get }
    /// The keys that may be `null`, which differs from absent.
    static var nullableKeys: [String] { get }
}

extension RouteBody {
    package static var nullableKeys: [String] { [] }
}

/// An empty body; in JSON `{}`.
package struct Empty: RouteBody, Hashable {
    package static let keys: [String] = []

    /// Creates an empty.
    package init() {}
}

/// The routes of docs/api.md, except those that only stream (``eventsPath``, ``historyPath`` and ``fetchContentPath``).
package enum Routes {
    package static let status = Route<Empty, ServiceStatus>(.get, "/v1/status")
    package static let stop = Route<Empty, ProcessReply>(.post, "/v1/stop", status: 202)
    package static let reload = Route<Empty, ReloadReply>(.post, "/v1/reload")

    package static let health = Route<Empty, StorageHealth>(.get, "/v1/health")
    /// Stops reporting a damaged or missing database.
    package static let acknowledgeHealth = Route<Empty, StorageHealth>(.post, "/v1/health/acknowledge")

    package static let location = Route<Empty, LocationStatus>(.get, "/v1/location")
    package static let changeLocation = Route<LocationChange, LocationStatus>(.patch, "/v1/location")
    package static let track = Route<Empty, [Location]>(.get, "/v1/track")
    package static let trips = Route<Empty, [Trip]>(.get, "/v1/track/trips")
    /// Needs at least one of `since`, `until` and `trip`; with `trial=1` it only counts.
    package static let deleteHistory = Route<Empty, DeletionReply>(.delete, "/v1/track/history")
    /// Replies with a stream of ``ImportProgress``, one per line.
    package static let importTrack = Route<ImportRequest, ImportProgress>(.post, "/v1/track/import", access: .execute)

    package static let audio = Route<Empty, AudioStatus>(.get, "/v1/audio")
    package static let changeAudio = Route<AudioChange, AudioStatus>(.patch, "/v1/audio")
    package static let play = Route<PlayRequest, AudioStatus>(.post, "/v1/audio/play")
    package static let pause = Route<Empty, AudioStatus>(.post, "/v1/audio/pause")
    package static let toggle = Route<Empty, AudioStatus>(.post, "/v1/audio/toggle")
    package static let stopAudio = Route<Empty, AudioStatus>(.post, "/v1/audio/stop")
    package static let next = Route<Empty, AudioStatus>(.post, "/v1/audio/next")
    package static let previous = Route<Empty, AudioStatus>(.post, "/v1/audio/previous")
    package static let seek = Route<SeekRequest, AudioStatus>(.post, "/v1/audio/seek")
    package static let interrupt = Route<InterruptRequest, AudioStatus>(.post, "/v1/audio/interrupt")
    package static let drivers = Route<Empty, [AudioDriver]>(.get, "/v1/audio/drivers")

    package static let queue = Route<Empty, [PlayerItem]>(.get, "/v1/queue")
    package static let enqueue = Route<EnqueueRequest, [PlayerItem]>(.post, "/v1/queue", status: 201)
    package static let clearQueue = Route<Empty, Empty>(.delete, "/v1/queue", status: 204)
    package static let shuffleQueue = Route<Empty, [PlayerItem]>(.post, "/v1/queue/shuffle")
    package static let moveItem = Route<MoveRequest, PlayerItem>(.patch, "/v1/queue/{id}")
    /// Removes all of the items or none.
    package static let removeItems = Route<RemoveRequest, Empty>(.post, "/v1/queue/remove", status: 204)
    package static let removeItem = Route<Empty, Empty>(.delete, "/v1/queue/{id}", status: 204)

    /// Server-sent events. `attach=1` attaches the reader; `observe=DURATION` is the interval of `time`.
    package static let eventsPath = "/v1/events"
    /// All points of a range, streamed, with `since`, `until`, `trip` and `format`.
    package static let historyPath = "/v1/track/history"
}
