import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Logging
import Synchronization

/// What would go to a client, said in the log while none is attached, in the words of INTERFACE.md. Any thread.
final class BackgroundLog: Sendable {
    private struct State {
        var progress: LogProgress
        var watch: Watch?
        /// When the last line of its kind was written, since the last client left.
        var lastLocation: ContinuousClock.Instant?
        var lastTime: ContinuousClock.Instant?
    }

    private struct Watch {
        let player: QueuePlayer
        let id: Int
    }

    private let log: DaemonLog
    private let state: Mutex<State>

    init(log: DaemonLog, progress: LogProgress) {
        self.log = log
        state = Mutex(State(progress: progress))
    }

    /// Tells of the points that the progress has room for: all of them, the newest, or none.
    func log(_ locations: [Location]) {
        let shown = state.withLock { state -> ArraySlice<Location> in
            switch state.progress {
            case .off: return []
            case .every: return locations[...]
            case .at(let interval):
                return Self.isDue(&state.lastLocation, interval) ? locations.suffix(1) : []
            }
        }
        guard !shown.isEmpty else { return }
        log.write(.info, count: shown.count) { index, line in
            line.append("App is backgrounded. New location is ")
            line.append(shown[shown.startIndex + index])
        }
    }

    /// Begins to tell how far the current item was heard: every `interval`, or as seldom as `progress` says.
    func begin(_ player: QueuePlayer, every interval: Duration, progress: LogProgress) {
        let watch: Watch? =
            switch progress {
            case .off: nil
            case .every: Watch(player: player, id: watch(player, every: interval))
            case .at(let rest): Watch(player: player, id: watch(player, every: max(interval, rest)))
            }
        replace(by: State(progress: progress, watch: watch))
    }

    /// As the configuration says.
    func begin(_ player: QueuePlayer, _ configuration: DaemonConfiguration) {
        begin(
            player,
            every: configuration.value(Keys.observerInterval),
            progress: configuration.value(Keys.logProgress)
        )
    }

    func end() { replace(by: State(progress: state.withLock { $0.progress })) }

    private func watch(_ player: QueuePlayer, every interval: Duration) -> Int {
        // On the player's own thread, where a line is no wakeup more.
        player.watchTime(forInterval: interval) { [weak self] item, elapsed in self?.log(item, elapsed) }
    }

    private func log(_ item: PlayerItem, _ elapsed: Double) {
        let isDue = state.withLock { state in
            // Jumps and new items are told of at once, which is more often than an interval says.
            if case .at(let interval) = state.progress { return Self.isDue(&state.lastTime, interval) }
            return true
        }
        guard isDue else { return }
        log.write(.info, mayWait: true) { _, line in
            line.append("Background: ")
            line.append(elapsed, places: 2)
            line.append(" ")
            line.append(text: item.fileName.withoutControlCharacters)
        }
    }

    /// Tuned: a twentieth less than the interval counts as one, since timers and fixes are early by some milliseconds.
    private static func isDue(_ last: inout ContinuousClock.Instant?, _ interval: Duration) -> Bool {
        let now = ContinuousClock.now
        if let last, now - last < interval * 0.95 { return false }
        last = now
        return true
    }

    private func replace(by new: State) {
        let old = state.withLock { state in
            defer { state = new }
            return state.watch
        }
        if let old { old.player.endWatch(old.id) }
    }
}

extension Location {
    /// `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z`, without
    /// what is unknown.
    package var logDescription: String {
        var buffer = TextBuffer()
        buffer.append(self)
        return buffer.string
    }
}

extension TextBuffer {
    /// ``Location/logDescription``.
    mutating func append(_ location: Location) {
        append("<")
        append(location.latitude, places: 8, signed: true)
        append(",")
        append(location.longitude, places: 8, signed: true)
        append(">")
        if let accuracy = location.horizontalAccuracy {
            append(" +/- ")
            append(accuracy, places: 2)
            append("m")
        }
        if let speed = location.speed {
            append(" (speed ")
            append(speed, places: 2)
            append(" mps")
        }
        if let course = location.course {
            append(location.speed == nil ? " (course " : " / course ")
            append(course, places: 2)
        }
        if location.speed != nil || location.course != nil { append(")") }
        append(" @ ")
        append(location.timestamp)
    }
}
