import BackgrounderAPI
import FoundationEssentials
import Logging

/// Storing changes, then announcing them.
extension QueuePlayer {
    /// Writes the changes, then sends their events. Returns when both are done: why the changes could not be written, or
    /// nil.
    ///
    /// Writes run one after the other; each covers everything that changed before it began.
    @discardableResult
    func commit() async -> String? {
        showStatus()
        let task = writes.append { previous in
            Task {
                _ = await previous?.value
                await write()
                return writes.failureReason
            }
        }
        return await task.value
    }

    private func write() async {
        let (content, events) = writes.takeBatch(list.takeChanges())
        do {
            switch content {
            case nil: break
            case .state: try await journal.save(state: nextState)
            case .changes(let changes, let isStateNew):
                try await journal.save(changes, state: nextState, isStateNew: isStateNew)
            case .wholeQueue: try await journal.save([.replaced(list.items)], state: nextState, isStateNew: true)
            }
            if content != nil { saved() }
        } catch {
            notSaved(content, error)
        }
        for event in events { onEvent(event) }
        tellJump()
    }

    private func saved() {
        trackPosition()
        if writes.succeeded() { logger.notice("Saving the player state works again") }
    }

    private func notSaved(_ content: JournalQueue.Content?, _ error: any Error) {
        if writes.failureReason == nil { logger.error("Cannot save the player state; retrying: \(error)") }
        writes.failed(content, "\(error)")
        guard !activity.isShutDown else { return }
        let clock = clock
        writes.startRetry { delay in
            Task {
                guard (try? await clock.sleep(for: delay)) != nil else { return }
                writes.retryStarted()
                await commit()
            }
        }
    }

    /// Rejects a change that could not be stored, after a failed write is retried.
    ///
    /// Commands that must work on a failing disk, such as ``pause()``, do not call it.
    ///
    /// - Throws: ``PlayerError/notStored(reason:isInEffect:)``.
    func requireJournal() async throws(PlayerError) {
        writes.changeState()
        if let reason = await commit() { throw .notStored(reason: reason, isInEffect: false) }
    }

    /// Stores a change that was made after ``requireJournal()``.
    func commitChange() async throws(PlayerError) {
        if let reason = await commit() { throw .notStored(reason: reason, isInEffect: true) }
    }

    /// Stores the changes that could not be stored before. Call it when the journal works again.
    package func storeUnsaved() async {
        if writes.failureReason != nil { await commit() }
    }

    /// Waits until the current state has been written, so that a reader sees nothing else.
    func written() async {
        var last: Task<String?, Never>?
        while let write = writes.last, write != last {
            _ = await write.value
            last = write
        }
    }

    /// Makes stored positions refer to the state just written, unless something else plays by now.
    func trackPosition() {
        guard let first = chain.first, let current = list.current, first.itemID == current.id else {
            return pipeline.setPositionTarget(nil)
        }
        pipeline.setPositionTarget(PositionTarget(token: first.token, item: current, generation: writes.generation))
    }

    private var nextState: PlayerState {
        PlayerState(
            timeControlStatus: activity.stored,
            currentItemID: list.currentID,
            elapsed: elapsed ?? 0,
            options: list.options,
            nextItemID: list.nextItemID,
            generation: writes.nextGeneration()
        )
    }

    /// Records when the status last changed.
    private func showStatus() {
        if shown.show(timeControlStatus) { writes.send(.changed) }
    }

    func stateChanged() {
        writes.changeState()
        writes.send(.changed)
    }

    /// Announces that the items have changed. The queue itself records the changes for the journal.
    func queueChanged() { writes.send(.changed) }

    func currentChanged() {
        writes.changeState()
        guard shown.show(currentID: list.currentID) else { return }
        describeNewItems()
        writes.send(.currentItem(list.current.map(marked)))
    }

    func note(path: String?, _ reason: String) {
        lastError = PlaybackError(path: path, reason: reason, timestamp: Date())
        writes.send(.changed)
    }
}
