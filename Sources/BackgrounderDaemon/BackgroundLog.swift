import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Logging
import Synchronization

/// Logs the updates that an attached client would see while no client is attached. docs/behaviour.md, Service states, has the
/// sentences. Any thread.
final class BackgroundLog: Sendable {
    private struct State {
        var progress: LogProgress
        var watch: Watch?
        /// When the last line of its kind was written since the last client detached.
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

    /// Logs the points that the progress setting allows: all, the newest, or none.
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

    /// Starts logging the position in the current item: every `interval`, or less often if `progress` says so.
    func begin(_ player: QueuePlayer, every interval: Duration, progress: LogProgress) {
        let watch: Watch? =
            switch progress {
            case .off: nil
            case .every: Watch(player: player, id: watch(player, every: interval))
            case .at(let rest): Watch(player: player, id: watch(player, every: max(interval, rest)))
            }
        replace(by: State(progress: progress, watch: watch))
    }

    /// Starts logging as `configuration` says.
    func begin(_ player: QueuePlayer, _ configuration: DaemonConfiguration) {
        begin(
            player,
            every: configuration.value(Keys.observerInterval),
            progress: configuration.value(Keys.logProgress)
        )
    }

    func end() { replace(by: State(progress: state.withLock { $0.progress })) }

    private func watch(_ player: QueuePlayer, every interval: Duration) -> Int {
        // On the player's own thread, where a line costs no additional wakeup.
        player.watchTime(forInterval: interval) { [weak self] item, elapsed in self?.log(item, elapsed) }
    }

    private func log(_ item: PlayerItem, _ elapsed: Double) {
        let isDue = state.withLock { state in
            // Seeks and new items are observed immediately, which is more often than the interval.
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

    /// Tuned: 95 % of the interval counts as an interval, because timers and fixes may be early by some milliseconds.
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
    /// `<+37.33482105,-122.03350886> +/- 5.00m (speed 15.90 mps / course 255.94) @ 2014-12-22T04:05:13.000Z`, without unknown
    /// values.
    package var logDescription: String {
        var buffer = TextBuffer()
        buffer.append(self)
        return buffer.string
    }
}

extension TextBuffer {
    /// Appends ``Location/logDescription``.
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
