package import BackgrounderAPI

extension LocationManager {
    /// Begins to track; nothing happens while it does.
    package func startUpdatingLocation() async {
        await change { next in
            guard !next.updating else { return false }
            next.updating = true
            _ = next.filter.receive(.started)
            return true
        }
    }

    /// Ends tracking until a command starts it again, also over a restart. A replay begins anew then.
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

    /// Uses `settings` from the next fix on.
    package func apply(_ settings: LocationSettings) async {
        await change { next in
            guard next.filter.settings != settings else { return false }
            next.filter.settings = settings
            return true
        }
    }

    /// Takes the fixes from `source` from now on. Only another rate of the same file goes on where the file is.
    package func setSource(_ source: LocationSource) async {
        await change { next in
            guard source != self.source else { return false }
            closeSource()
            self.source = source
            if next.source != source.identity {
                isFinished = false
                next.source = source.identity
                next.replay = nil
                _ = next.filter.receive(.sourceChanged)
            }
            return true
        }
    }

    /// Ends the trip in progress and forgets where the machine was: the newest points are about to be deleted.
    ///
    /// - Parameter body: runs before the next point is accepted.
    package func forgetCourse<Result>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
        await takeTurn()
        defer { turn.pass() }
        var next = state
        next.trips = nil
        next.lastRejection = nil
        _ = next.filter.receive(.sourceChanged)
        await commit([], next, durable: true)
        return try await body()
    }

    /// Takes the rolling track from what the journal has, after points were deleted.
    ///
    /// - Parameter newest: reads the newest accepted points, oldest first.
    package func reloadTrack(_ newest: @Sendable () async throws -> [Location]) async rethrows {
        await takeTurn()
        defer { turn.pass() }
        track = Track(try await newest() + unsaved)
        onEvent(.changed)
    }

    /// Rests without a command: nobody is attached, and the mode is not declared.
    package func suspend() async {
        await takeTurn()
        defer { turn.pass() }
        guard !isSuspended else { return }
        isSuspended = true
        guard connection != .off else { return }
        closeSource()
        connection = .off
        onEvent(.changed)
    }

    /// Ends ``suspend()``; a replay goes on after the last point that it gave.
    package func resume() async {
        await takeTurn()
        defer { turn.pass() }
        guard isSuspended else { return }
        isSuspended = false
        openSource()
        if connection != .off { onEvent(.changed) }
    }

    /// Stores what `body` changes, and says so; `body` returns false where there is nothing to change.
    private func change(_ body: (inout LocationCheckpoint) -> Bool) async {
        await takeTurn()
        defer { turn.pass() }
        var next = state
        guard body(&next) else { return }
        await commit([], next, durable: true)
        openSource()
        adjustRest()
        onEvent(.changed)
    }
}

extension ReplayProgress {
    /// Notes how a run ended, unless it had ended before.
    mutating func end(_ ending: Ending) {
        self.ending = self.ending ?? ending
    }
}
