import BackgrounderAPI
import FoundationEssentials
import Logging

/// What has changed since the last write.
struct Unsaved {
    /// What changed in the queue is not known any more, since a write failed: all of it is written.
    var wholeQueue = false
    var state = false

    /// What could not be written is still to be.
    mutating func add(_ other: Unsaved) {
        wholeQueue = wholeQueue || other.wholeQueue
        state = state || other.state
    }
}

/// While the journal cannot be written: when it is tried again, if nothing else tries before.
struct JournalFailure {
    /// Why the last write failed, one line.
    var reason: String
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
        var what = unsaved
        let changes = list.takeChanges()
        let events = unsentEvents
        unsaved = Unsaved()
        unsentEvents = []
        do {
            if what.wholeQueue || !changes.isEmpty {
                try await journal.save(what.wholeQueue ? [.replaced(list.items)] : changes, state: nextState)
                written()
            } else if what.state {
                try await journal.save(state: nextState)
                written()
            }
        } catch {
            what.wholeQueue = what.wholeQueue || !changes.isEmpty
            unsaved.add(what)
            notWritten(error)
        }
        for event in events { onEvent(event) }
        tellJump()
    }

    private func written() {
        keepPosition()
        guard let failure = journalFailure else { return }
        failure.retry?.cancel()
        journalFailure = nil
        logger.notice("Storing the player's state again.")
    }

    private func notWritten(_ error: any Error) {
        if journalFailure == nil {
            logger.error("Cannot store the player's state; retrying: \(error)")
        }
        var failure = journalFailure ?? JournalFailure(reason: "")
        failure.reason = "\(error)"
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

    /// Refuses a change that could not be stored: a write shows whether the journal takes any.
    ///
    /// Commands that must work on a failing disk, such as ``pause()``, skip it.
    func requireJournal() async throws(PlayerError) {
        unsaved.state = true
        await commit()
        if let journalFailure { throw .notStored(reason: journalFailure.reason, isInEffect: false) }
    }

    /// Stores a change that was made after ``requireJournal()``.
    func commitChange() async throws(PlayerError) {
        await commit()
        if let journalFailure { throw .notStored(reason: journalFailure.reason, isInEffect: true) }
    }

    /// Stores what could not be stored before; the journal takes writes again.
    package func storeUnsaved() async {
        if journalFailure != nil { await commit() }
    }

    /// Waits until what a reader is about to see has been written.
    func shown() async {
        var last: Task<Void, Never>?
        while let commit = lastCommit, commit != last {
            await commit.value
            last = commit
        }
    }

    /// From here on positions belong to what was just written, unless it is not what plays any more.
    func keepPosition() {
        guard let first = chain.first, let current = list.current, first.itemID == current.id else {
            return pipeline.setKept(nil)
        }
        pipeline.setKept(KeeperState.Kept(token: first.token, item: current, generation: generation))
    }

    private var nextState: PlayerState {
        generation += 1
        return PlayerState(
            timeControlStatus: storedStatus,
            currentItemID: list.currentID,
            elapsed: elapsed ?? 0,
            options: list.options,
            nextItemID: list.nextItemID,
            generation: generation
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

    /// The items have changed, as the queue itself has noted for the journal.
    func queueChanged() { unsentEvents.append(.changed) }

    func currentChanged() {
        unsaved.state = true
        guard toldCurrentID != list.currentID else { return }
        toldCurrentID = list.currentID
        describeNewItems()
        unsentEvents.append(.currentItem(list.current))
    }

    func note(path: String?, _ reason: String) {
        lastError = PlaybackError(path: path, reason: reason, timestamp: Date())
        unsentEvents.append(.changed)
    }
}
