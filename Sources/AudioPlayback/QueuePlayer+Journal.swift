import BackgrounderAPI
import FoundationEssentials
import Logging

/// What has changed since the last write.
struct Unsaved {
    var queue = false
    var state = false
    var position = false

    /// What could not be written is still to be.
    mutating func add(_ other: Unsaved) {
        queue = queue || other.queue
        state = state || other.state
        position = position || other.position
    }
}

/// While the journal cannot be written: when it is tried again, if nothing else tries before.
struct JournalFailure {
    var delay = Duration.seconds(1)
    var retry: Task<Void, Never>?
}

/// Writing first, telling afterwards.
extension QueuePlayer {
    /// Writes what has changed, then sends the events that tell of it. Returns when that is done.
    ///
    /// Writes follow each other, and each takes all that changed before it began.
    func commit() async {
        showStatus()
        let previous = lastCommit
        let task = Task {
            await previous?.value
            await write()
        }
        lastCommit = task
        await task.value
    }

    private func write() async {
        let what = unsaved
        let events = unsentEvents
        unsaved = Unsaved()
        unsentEvents = []
        do {
            if what.queue {
                try await journal.save(queue: list.items, state: playerState)
            } else if what.state || what.position {
                try await journal.save(state: playerState, durable: what.state)
            }
            if what.queue || what.state || what.position { written() }
        } catch {
            unsaved.add(what)
            notWritten(error)
        }
        for event in events { onEvent(event) }
        tellJump()
    }

    private func written() {
        guard let failure = journalFailure else { return }
        failure.retry?.cancel()
        journalFailure = nil
        logger.notice("What the player does is stored again.")
    }

    private func notWritten(_ error: any Error) {
        if journalFailure == nil {
            logger.error("What the player does cannot be stored; it is tried again: \(error)")
        }
        var failure = journalFailure ?? JournalFailure()
        defer { journalFailure = failure }
        guard failure.retry == nil, !isShuttingDown else { return }
        let delay = failure.delay
        failure.delay = min(delay * 2, .seconds(30))  // judgement
        let clock = clock
        failure.retry = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            journalFailure?.retry = nil
            await commit()
        }
    }

    /// Waits until what a reader is about to see has been written.
    func shown() async {
        var last: Task<Void, Never>?
        while let commit = lastCommit, commit != last {
            await commit.value
            last = commit
        }
    }

    private var playerState: PlayerState {
        PlayerState(
            timeControlStatus: storedStatus,
            currentItemID: list.currentID,
            elapsed: elapsed ?? 0,
            options: list.options,
            nextItemID: list.nextItemID
        )
    }

    private var storedStatus: TimeControlStatus {
        switch intent {
        case .playing: .playing
        case .paused: .paused
        case .stopped: .stopped
        }
    }

    /// Notes since when the status is what it is.
    private func showStatus() {
        let status = timeControlStatus
        guard status != shownStatus else { return }
        shownStatus = status
        since = Date()
        unsentEvents.append(.changed)
    }

    func stateChanged() {
        unsaved.state = true
        unsentEvents.append(.changed)
    }

    func queueChanged() {
        unsaved.queue = true
        unsentEvents.append(.changed)
    }

    func currentChanged() {
        unsaved.state = true
        guard toldCurrentID != list.currentID else { return }
        toldCurrentID = list.currentID
        unsentEvents.append(.currentItem(list.current))
    }

    func note(path: String?, _ reason: String) {
        lastError = PlaybackError(path: path, reason: reason, timestamp: Date())
        unsentEvents.append(.changed)
    }
}
