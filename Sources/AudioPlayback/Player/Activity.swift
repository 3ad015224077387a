import BackgrounderAPI

/// The player's activity: the requested playback, and whether the mode runs.
enum Activity {
    case active(Playback)
    /// The mode is suspended; resuming returns to the playback.
    case suspended(Playback)
    /// The service ends; the playback is what a restart returns to.
    case shutDown(Playback, wasSuspended: Bool)

    /// The playback that commands and the queue ask for. The actual one is ``AudioStatus/timeControlStatus``.
    enum Playback: Hashable {
        case stopped
        case paused
        case playing
        /// The device is being closed, and the player stops once it is. `isPaused`: the player was paused before.
        case ending(Ending, isPaused: Bool)
    }

    /// Why the device is being closed.
    enum Ending { case queue, command }

    /// Commands change it in a suspended mode too.
    var playback: Playback {
        get {
            switch self {
            case .active(let playback), .suspended(let playback), .shutDown(let playback, _): playback
            }
        }
        set {
            self =
                switch self {
                case .active: .active(newValue)
                case .suspended: .suspended(newValue)
                case .shutDown(_, let wasSuspended): .shutDown(newValue, wasSuspended: wasSuspended)
                }
        }
    }

    var isSuspended: Bool {
        switch self {
        case .active, .shutDown(_, wasSuspended: false): false
        case .suspended, .shutDown(_, wasSuspended: true): true
        }
    }

    var isShutDown: Bool { if case .shutDown = self { true } else { false } }

    /// Whether music should sound.
    var isSounding: Bool { playback == .playing && !isSuspended }

    var ending: Ending? { if case .ending(let ending, _) = playback { ending } else { nil } }

    /// The status to restore after a restart. Until the device is closed, an ending does not show in it.
    var stored: TimeControlStatus {
        switch playback {
        case .stopped: .stopped
        case .paused, .ending(_, isPaused: true): .paused
        case .playing, .ending(_, isPaused: false): .playing
        }
    }

    init(_ stored: TimeControlStatus) {
        self =
            switch stored {
            case .playing, .waiting: .active(.playing)
            case .paused: .active(.paused)
            case .stopped: .active(.stopped)
            }
    }

    mutating func end(_ ending: Ending) { playback = .ending(ending, isPaused: stored == .paused) }

    /// Something else is played instead of ending.
    mutating func revokeEnding() {
        if case .ending(_, let isPaused) = playback { playback = isPaused ? .paused : .playing }
    }

    mutating func suspend() { if case .active(let playback) = self { self = .suspended(playback) } }

    mutating func resume() { if case .suspended(let playback) = self { self = .active(playback) } }

    mutating func shutDown() { self = .shutDown(playback, wasSuspended: isSuspended) }
}
