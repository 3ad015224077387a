import AudioPlayback
import BackgrounderAPI
import FoundationEssentials
import Logging
import Synchronization
import SystemSupport

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
    ///
    /// - Parameter mayBlock: whether the calling thread may wait for the disk.
    func log(_ locations: [Location], mayBlock: Bool) {
        let shown = state.withLock { state -> ArraySlice<Location> in
            switch state.progress {
            case .off: return []
            case .every: return locations[...]
            case .at(let interval):
                return Self.isDue(&state.lastLocation, interval) ? locations.suffix(1) : []
            }
        }
        guard !shown.isEmpty else { return }
        log.write(.info, count: shown.count, mayBlock: mayBlock) { index, line in
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
            case .at(let least): Watch(player: player, id: watch(player, every: max(interval, least)))
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
        // On the position thread, which is awake anyway.
        player.watchTime(forInterval: interval) { [weak self] item, elapsed in self?.log(item, elapsed) }
    }

    private func log(_ item: PlayerItem, _ elapsed: Double) {
        let isDue = state.withLock { state in
            // Seeks and new items are observed immediately, which is more often than the interval.
            if case .at(let interval) = state.progress { return Self.isDue(&state.lastTime, interval) }
            return true
        }
        guard isDue else { return }
        log.write(.info, mayBlock: true) { _, line in
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
