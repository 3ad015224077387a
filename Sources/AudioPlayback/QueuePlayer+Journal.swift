import BackgrounderAPI
import FoundationEssentials
import Logging

/// The changes since the last write.
struct Unsaved {
    /// A write failed, so the changes of the queue are no longer known: write all of it.
    var wholeQueue = false
    var state = false

    /// Adds changes that could not be written.
    mutating func add(_ other: Unsaved) {
        wholeQueue = wholeQueue || other.wholeQueue
        state = state || other.state
    }
}

/// A failure of the journal, with the time of the next retry.
struct JournalFailure {
    /// Why the last write failed, in one line.
    var reason: String
    var delay = Duration.seconds(1)
    var retry: Task<Void, Never>?
}

/// Storing changes, then announcing them.
extension QueuePlayer {
    /// Writes the changes, then sends their events. Returns when both are done.
    ///
    /// Writes run one after the other; each covers everything that changed before it began.
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
        logger.notice("Saving the player state works again")
    }

    private func notWritten(_ error: any Error) {
        if journalFailure == nil {
            logger.error("Cannot save the player state; retrying: \(error)")
        }
        var failure = journalFailure ?? JournalFailure(reason: "")
        failure.reason = "\(error)"
        defer { journalFailure = failure }
        guard failure.retry == nil, !isShuttingDown else { return }
        let delay = failure.delay
        failure.delay = min(delay * 2, .seconds(30))  // Tuned: a full disk is noticed soon after it has room again
        let clock = clock
        failure.retry = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            journalFailure?.retry = nil
            await commit()
        }
    }

    /// Rejects a change that could not be stored, after a failed write is retried.
    ///
    /// Commands that must work on a failing disk, such as ``pause()``, do not call it.
    ///
    /// - Throws: ``PlayerError/notStored(reason:isInEffect:)``.
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

    /// Stores the changes that could not be stored before. Call it when the journal works again.
    package func storeUnsaved() async {
        if journalFailure != nil { await commit() }
    }

    /// Waits until the current state has been written, so that a reader sees nothing else.
    func shown() async {
        var last: Task<Void, Never>?
        while let commit = lastCommit, commit != last {
            await commit.value
            last = commit
        }
    }

    /// Makes stored positions refer to the state just written, unless something else plays by now.
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

    /// Records when the status last changed.
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

    /// Announces that the items have changed. The queue itself records the changes for the journal.
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
