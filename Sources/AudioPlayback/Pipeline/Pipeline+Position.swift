import BackgrounderAPI
import SystemSupport

/// The position thread's side of the pipeline, and the player's side of the watches.
extension Pipeline {
    /// Waits for work. Returns nil when the pipeline is shut down.
    func nextPositionWork() -> PositionWork? {
        monitor.wait(as: .position) { state in
            if state.isShutDown { return .done(nil) }
            let now = MonotonicTime.now.nanoseconds
            return state.position.next(state.heardPosition(at: now), now: now)
        }
    }

    /// Sets the state that is stored now; positions refer to it from here on.
    func setPositionTarget(_ target: PositionTarget?) {
        monitor.withLock { $0.position.setTarget(target) }
        rooms.wake(.position)
    }

    /// Tells the watchers about a position that was not reached by playing.
    func tellJump(in item: PlayerItem, to elapsed: Double) {
        if monitor.withLock({ $0.position.jump(in: item, to: elapsed) }) { rooms.wake(.position) }
    }

    func addWatch(every interval: Double, _ body: @escaping @Sendable (PlayerItem, Double) -> Void) -> Int {
        defer { rooms.wake(.position) }
        return monitor.withLock { state in
            let elapsed = state.music.position(at: MonotonicTime.now.nanoseconds).elapsed
            return state.position.addWatch(every: interval, at: elapsed, body)
        }
    }

    func removeWatch(_ id: Int) { monitor.withLock { $0.position.removeWatch(id) } }
}

extension PipelineState {
    /// The position that is heard; nil while the player does not play.
    fileprivate func heardPosition(at now: Int64) -> HeardPosition? {
        guard output.isPlaying else { return nil }
        let (token, elapsed) = music.position(at: now)
        return HeardPosition(
            token: token,
            elapsed: elapsed,
            isAdvancing: music.isAdvancing(at: now),
            isFile: output.device?.kind == .file
        )
    }
}
