/// The routes of docs/api.md, except those that only stream (``eventsPath``, ``historyPath``, ``fetchContentPath``,
/// ``coverPath``, ``mapTilePath`` and ``metricsPath``).
package enum Routes {
    package static let status = Route<Empty, ServiceStatus>(.get, "/v1/status")
    package static let stop = Route<Empty, ProcessReply>(.post, "/v1/stop", status: 202, isLocal: true)
    package static let reload = Route<Empty, ReloadReply>(.post, "/v1/reload", isLocal: true)

    /// Takes `since`, `level`, `grep` and `last`.
    package static let log = Route<Empty, [LogRecord]>(.get, "/v1/log")

    package static let health = Route<Empty, StorageHealth>(.get, "/v1/health")
    /// Stops reporting a damaged or missing database.
    package static let acknowledgeHealth = Route<Empty, StorageHealth>(.post, "/v1/health/acknowledge")

    /// Text in Prometheus' format.
    package static let metricsPath = "/metrics"

    package static let location = Route<Empty, LocationStatus>(.get, "/v1/location")
    package static let changeLocation = Route<LocationChange, LocationStatus>(.patch, "/v1/location")
    package static let track = Route<Empty, [Location]>(.get, "/v1/track")
    /// Takes `since`, `until`, `trip`, `bbox` and `zoom`.
    package static let trackLine = Route<Empty, TrackLine>(.get, "/v1/track/line")
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
    /// A stream of bytes: the picture of the current item, or of the one in the parameter `item`.
    package static let coverPath = "/v1/audio/cover"
    /// Takes `path`, relative to the music directory.
    package static let library = Route<Empty, MusicFolderContent>(.get, "/v1/library")
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
