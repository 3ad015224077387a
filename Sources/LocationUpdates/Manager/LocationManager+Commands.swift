package import BackgrounderAPI
import SystemSupport

extension LocationManager {
    /// Starts updates; does nothing if they are on.
    package func startUpdatingLocation() async {
        await change { next in
            guard !next.updating else { return false }
            next.updating = true
            _ = next.filter.receive(.started)
            return true
        }
    }

    /// Stops updates until a command starts them again, also across restarts. A replay then starts from the beginning.
    package func stopUpdatingLocation() async {
        await change { next in
            guard next.updating else { return false }
            closeSource()
            connection = .off
            isFinished = false
            next.updating = false
            next.replay?.end(.stopped)
            return true
        }
    }

    /// Applies `settings` from the next fix on.
    package func apply(_ settings: LocationSettings) async {
        await change { next in
            guard next.filter.settings != settings else { return false }
            next.filter.settings = settings
            return true
        }
    }

    /// Switches to `source`. If only the rate of a replay changes, the replay continues at its position.
    package func setSource(_ source: LocationSource) async {
        await change { next in
            guard source != self.source else { return false }
            closeSource()
            self.source = source
            if next.source != source.identity {
                isFinished = false
                next.changeSource(to: source)
            }
            return true
        }
    }

    /// Forgets the last position, and ends the trip in progress. Call it when the newest points are about to be deleted.
    ///
    /// - Parameter body: runs before the next point is accepted.
    /// - Throws: the error of `body`.
    package func forgetLastPosition<Result>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        await turn.begin()
        defer { turn.end() }
        var next = state
        next.trips = nil
        next.lastRejection = nil
        _ = next.filter.receive(.sourceChanged)
        await commit([], next, durable: true)
        return try await body()
    }

    /// Reloads the rolling track from the journal, after points were deleted.
    ///
    /// - Parameter newest: reads the newest accepted points, oldest first.
    /// - Throws: the error of `newest`; the track is unchanged then.
    package func reloadTrack(_ newest: @Sendable () async throws -> [Location]) async rethrows {
        await turn.begin()
        defer { turn.end() }
        track = Track(try await newest() + unsaved)
        onEvent(.changed)
    }

    /// Suspends the mode because no client is attached and the mode is not declared.
    package func suspend() async {
        await turn.begin()
        defer { turn.end() }
        guard !isSuspended else { return }
        isSuspended = true
        guard connection != .off else { return }
        closeSource()
        connection = .off
        onEvent(.changed)
    }

    /// Ends ``suspend()``. A replay continues after the last point that it delivered.
    package func resume() async {
        await turn.begin()
        defer { turn.end() }
        guard isSuspended else { return }
        isSuspended = false
        openSource()
        if connection != .off { onEvent(.changed) }
    }

    /// Stores the changes that `body` makes and publishes them. `body` returns false if there is nothing to change.
    private func change(_ body: (inout LocationCheckpoint) -> Bool) async {
        await turn.begin()
        defer { turn.end() }
        var next = state
        guard body(&next) else { return }
        await commit([], next, durable: true)
        openSource()
        adjustRest()
        onEvent(.changed)
    }
}

extension ReplayProgress {
    /// Records how a run ended, unless it already had.
    mutating func end(_ ending: Ending) {
        self.ending = self.ending ?? ending
    }
}
