package import BackgrounderAPI

/// Playing, pausing, skipping and seeking. Each command stores its effect and returns the new status.
extension QueuePlayer {
    /// Resumes after a pause, else plays the current item from its start.
    ///
    /// - Throws: ``PlayerError/emptyQueue``.
    package func play() async throws -> AudioStatus {
        settle()
        if intent == .playing, ending == nil {
            if tryAllAgain() { plan() }
            return await answer()
        }
        guard let item = list.selectFirst() else { throw PlayerError.emptyQueue }
        let isPaused = intent == .paused
        intent = .playing
        let hasMore = tryAllAgain()
        if isPaused, !chain.isEmpty {
            if hasMore { plan() }
            applyIntent()
        } else {
            start(item, at: isPaused ? position : 0)
            currentChanged()
        }
        return await answer()
    }

    /// Plays an item of the queue from its start.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)``.
    package func play(id: Int) async throws -> AudioStatus {
        settle()
        try list.select(id: id)
        tryAllAgain()
        return await playCurrent()
    }

    /// Forgets which items could not be opened, because they may be readable by now. Returns false if there were none.
    @discardableResult
    private func tryAllAgain() -> Bool {
        guard !unplayable.isEmpty else { return false }
        unplayable = [:]
        unsentEvents.append(.changed)
        return true
    }

    /// Inserts files and folders after the current item and plays the first of them. Throws like ``append(_:within:)``.
    package func play(paths: [String], within scope: MediaScope = .everywhere) async throws -> AudioStatus {
        let files = try await mediaFolder.files(paths, within: scope)
        try await requireJournal()
        settle()
        let new = try list.insert(paths: files, at: list.current.map { $0.position + 1 })
        queueChanged()
        describeNewItems()
        guard let first = new.first else { throw PlayerError.emptyQueue }
        try list.select(id: first.id)
        return await playCurrent()
    }

    /// Pauses at the current position. Silence follows within one and a half times the sound that the device holds. Has no
    /// effect while stopped.
    package func pause() async -> AudioStatus {
        settle()
        if intent == .playing, ending == nil {
            intent = .paused
            if !isAnnouncing {
                outage = nil
                allowOpening()
            }
            applyIntent()
            jumped()
        }
        return await answer()
    }

    /// Pauses while playing, else plays. Throws like ``play()``.
    package func toggle() async throws -> AudioStatus {
        settle()
        return intent == .playing ? await pause() : try await play()
    }

    /// Stops, and drops all announcements. The current item stays current.
    package func stop() async -> AudioStatus {
        settle()
        dropAnnouncements(because: "the player was stopped")
        if intent != .stopped, ending != .command {
            finish(.command)
            // A file is complete before the status says stopped; a disk that hangs delays the command no longer than this.
            if ending != nil { await closing(within: .milliseconds(150)) }
            jumped()
        }
        return await answer()
    }

    /// Skips to the next item and plays it, even from a pause. Stops at the end of the queue.
    package func next() async throws -> AudioStatus {
        try requirePlayer()
        let before = list.version
        let outcome = list.next()
        if list.version != before { queueChanged() }
        guard case .play = outcome else {
            list.deselect()
            finish(.command)
            currentChanged()
            if ending != nil { await closing(within: .milliseconds(150)) }
            return await answer()
        }
        return await playCurrent()
    }

    /// Goes back to the previous item and plays it, even from a pause. The first item starts over.
    package func previous() async throws -> AudioStatus {
        try requirePlayer()
        _ = list.previous()
        return await playCurrent()
    }

    /// The effect of a seek to or past the end of an item. The end is known once the file's metadata has been read.
    package enum SeekPastEnd: Sendable {
        /// Throw ``PlayerError/pastEnd(item:time:duration:)``; playing continues where it was.
        case refuse
        /// End the item, as MPD does.
        case endItem
    }

    /// Seeks to a time in the current item, in seconds.
    ///
    /// - Throws: ``PlayerError/stopped``, ``PlayerError/invalidTime(_:)`` or ``PlayerError/pastEnd(item:time:duration:)``.
    package func seek(to seconds: Double, pastEnd: SeekPastEnd = .refuse) async throws -> AudioStatus {
        guard (0...Self.latestTime).contains(seconds) else { throw PlayerError.invalidTime(seconds) }
        try requirePlayer()
        return try await seekCurrent(to: seconds, pastEnd)
    }

    /// Seeks forward or back by `seconds`, but not before the item's start. Throws like ``seek(to:pastEnd:)``.
    package func seek(by seconds: Double) async throws -> AudioStatus {
        guard seconds.isFinite, seconds <= Self.latestTime else { throw PlayerError.invalidTime(seconds) }
        try requirePlayer()
        return try await seekCurrent(to: min(max(0, (elapsed ?? 0) + seconds), Self.latestTime), .refuse)
    }

    /// Changes the options that are not nil, in one step.
    ///
    /// - Throws: ``PlayerError/invalidVolume(_:)`` or ``PlayerError/notStored(reason:isInEffect:)``.
    package func setOptions(
        volume: Int? = nil,
        repeat: Bool? = nil,
        single: SingleMode? = nil,
        consume: Bool? = nil,
        random: Bool? = nil,
        replayGain: ReplayGainMode? = nil,
        actionAtItemEnd: ActionAtItemEnd? = nil
    ) async throws -> AudioStatus {
        if let volume, !(0...100).contains(volume) { throw PlayerError.invalidVolume(volume) }
        try await requireJournal()
        settle()
        var options = list.options
        options.volume = volume ?? options.volume
        options.repeat = `repeat` ?? options.repeat
        options.single = single ?? options.single
        options.consume = consume ?? options.consume
        options.random = random ?? options.random
        options.replayGain = replayGain ?? options.replayGain
        options.actionAtItemEnd = actionAtItemEnd ?? options.actionAtItemEnd
        list.set(options)
        pipeline.setReplayGain(options.effectiveReplayGain)
        pipeline.setGain(Self.gain(volume: options.volume))
        plan()
        stateChanged()
        try await commitChange()
        return present()
    }

    /// Suspends the mode: closes the device, but remembers and stores the intent.
    package func suspend() async {
        settle()
        guard !isSuspended else { return }
        isSuspended = true
        dropAnnouncements(because: "audio is suspended")
        outage = nil
        allowOpening()
        applyIntent()
        jumped()
        _ = await answer()
    }

    /// Resumes from where ``suspend()`` interrupted.
    package func resume() async {
        settle()
        guard isSuspended else { return }
        isSuspended = false
        if intent == .playing, chain.isEmpty, let item = list.current { start(item, at: position) }
        applyIntent()
        _ = await answer()
    }

    private func requirePlayer() throws(PlayerError) {
        settle()
        guard !list.isEmpty else { throw .emptyQueue }
        guard intent != .stopped, ending != .command, list.current != nil else { throw .stopped }
    }

    private func playCurrent() async -> AudioStatus {
        intent = .playing
        if let item = list.current { start(item, at: 0) }
        currentChanged()
        jumped()
        return await answer()
    }

    private func seekCurrent(to seconds: Double, _ pastEnd: SeekPastEnd) async throws -> AudioStatus {
        guard let item = list.current else { return await answer() }
        if let duration = item.duration, seconds >= duration {
            guard case .endItem = pastEnd else {
                throw PlayerError.pastEnd(item: item.fileName, time: seconds, duration: duration)
            }
            let before = list.version
            let outcome = list.finishCurrent()
            if list.version != before { queueChanged() }
            switch outcome {
            case .play(let id), .pause(let id):
                if case .pause = outcome { intent = .paused }
                if let item = list.item(id) { start(item, at: 0) }
                applyIntent()
                currentChanged()
            case .stay: start(item, at: duration)
            case .stop:
                finish(.command)
                currentChanged()
            }
        } else {
            start(item, at: seconds)
        }
        jumped()
        return await answer()
    }

    func answer() async -> AudioStatus {
        stateChanged()
        await commit()
        return present()
    }
}
