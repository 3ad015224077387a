package import BackgrounderAPI
package import MediaFiles

/// Playing, pausing, skipping and seeking. Each command stores its effect and returns the new status.
extension QueuePlayer {
    /// Resumes after a pause, else plays the current item from its start.
    ///
    /// - Throws: ``PlayerError/emptyQueue``.
    package func play() async throws -> AudioStatus {
        handleReports()
        if activity.playback == .playing {
            if tryAllAgain() { plan() }
            return await answer()
        }
        guard let item = list.selectFirst() else { throw PlayerError.emptyQueue }
        let isPaused = activity.playback == .paused
        activity.playback = .playing
        let hasMore = tryAllAgain()
        if isPaused, !chain.isEmpty {
            if hasMore { plan() }
            applyActivity()
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
        handleReports()
        try list.select(id: id)
        tryAllAgain()
        startCurrent()
        return await answer()
    }

    /// Forgets which items could not be opened, because they may be readable by now. Returns false if there were none.
    @discardableResult
    private func tryAllAgain() -> Bool {
        guard faults.retryAll() else { return false }
        writes.send(.changed)
        return true
    }

    /// Inserts files and folders after the current item and plays the first of them. Throws like ``append(_:within:)``,
    /// and ``PlayerError/notStored(reason:isInEffect:)``.
    package func play(paths: [String], within scope: MediaScope = .everywhere) async throws -> AudioStatus {
        let files = try await mediaResolver.files(paths, within: scope)
        try await requireJournal()
        handleReports()
        let new = try list.insert(paths: files, at: list.current.map { $0.position + 1 })
        queueChanged()
        describeNewItems()
        guard let first = new.first else { throw PlayerError.emptyQueue }
        try list.select(id: first.id)
        startCurrent()
        stateChanged()
        try await commitChange()
        return present()
    }

    /// Pauses at the current position. Silence follows within one and a half times the sound that the device holds. Has no
    /// effect while stopped.
    package func pause() async -> AudioStatus {
        handleReports()
        if activity.playback == .playing {
            activity.playback = .paused
            if !isAnnouncing { endOutage() }
            applyActivity()
            jumped()
        }
        return await answer()
    }

    /// Pauses while playing, else plays. Throws like ``play()``.
    package func toggle() async throws -> AudioStatus {
        handleReports()
        return activity.stored == .playing ? await pause() : try await play()
    }

    /// Stops, and drops all announcements. The current item stays current.
    package func stop() async -> AudioStatus {
        handleReports()
        dropAnnouncements(because: "the player was stopped")
        if activity.playback != .stopped, activity.ending != .command {
            finish(.command)
            // A file is complete before the status says stopped; a disk that hangs delays the command no longer than this.
            if activity.ending != nil { await closing(within: .milliseconds(150)) }
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
            if activity.ending != nil { await closing(within: .milliseconds(150)) }
            return await answer()
        }
        startCurrent()
        return await answer()
    }

    /// Goes back to the previous item and plays it, even from a pause. The first item starts over.
    package func previous() async throws -> AudioStatus {
        try requirePlayer()
        _ = list.previous()
        startCurrent()
        return await answer()
    }

    /// Seeks to a time in the current item, in seconds. The item's end is known once its metadata has been read.
    ///
    /// - Throws: ``PlayerError/stopped``, ``PlayerError/invalidTime(_:)`` or ``PlayerError/pastEnd(item:time:duration:)``.
    package func seek(to seconds: Double) async throws -> AudioStatus {
        guard (0...AudioFormat.latestTime).contains(seconds) else { throw PlayerError.invalidTime(seconds) }
        try requirePlayer()
        return try await seekCurrent(to: seconds)
    }

    /// Seeks forward or back by `seconds`, but not before the item's start. Throws like ``seek(to:)``.
    package func seek(by seconds: Double) async throws -> AudioStatus {
        guard seconds.isFinite, seconds <= AudioFormat.latestTime else { throw PlayerError.invalidTime(seconds) }
        try requirePlayer()
        return try await seekCurrent(to: min(max(0, (elapsed ?? 0) + seconds), AudioFormat.latestTime))
    }

    /// Seeks to a time in an item of the queue, in seconds, and makes it current. A stopped player starts; otherwise it
    /// keeps playing or stays paused.
    ///
    /// As in MPD, a time at or after the item's end ends the item.
    ///
    /// - Throws: ``PlayerError/noSuchItem(id:)`` or ``PlayerError/invalidTime(_:)``.
    package func seek(id: Int, to seconds: Double) async throws -> AudioStatus {
        guard (0...AudioFormat.latestTime).contains(seconds) else { throw PlayerError.invalidTime(seconds) }
        handleReports()
        let isStopped = activity.playback == .stopped || activity.ending == .command
        if isStopped || list.currentID != id {
            try list.select(id: id)
            tryAllAgain()
            if isStopped { activity.playback = .playing }
        }
        guard let item = list.current else { throw PlayerError.noSuchItem(id: id) }
        if seconds > 0, news.isLive(id) { throw PlayerError.notSeekable(item: item.fileName) }
        if let duration = item.duration, seconds >= duration {
            endCurrent(at: duration)
        } else {
            start(item, at: seconds)
        }
        currentChanged()
        jumped()
        return await answer()
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
        actionAtItemEnd: ActionAtItemEnd? = nil,
        outputEnabled: Bool? = nil
    ) async throws -> AudioStatus {
        if let volume, !(0...100).contains(volume) { throw PlayerError.invalidVolume(volume) }
        try await requireJournal()
        handleReports()
        var options = list.options
        options.volume = volume ?? options.volume
        options.repeat = `repeat` ?? options.repeat
        options.single = single ?? options.single
        options.consume = consume ?? options.consume
        options.random = random ?? options.random
        options.replayGain = replayGain ?? options.replayGain
        options.actionAtItemEnd = actionAtItemEnd ?? options.actionAtItemEnd
        let wasEnabled = options.outputEnabled
        options.outputEnabled = outputEnabled ?? wasEnabled
        list.set(options)
        if options.outputEnabled != wasEnabled { outputChanged() }
        pipeline.setReplayGain(options.effectiveReplayGain)
        pipeline.setGain(Self.gain(volume: options.volume))
        plan()
        stateChanged()
        try await commitChange()
        return present()
    }

    /// Suspends the mode: closes the device, but remembers and stores the playback.
    package func suspend() async {
        handleReports()
        guard case .active = activity else { return }
        activity.suspend()
        dropAnnouncements(because: "audio is suspended")
        endOutage()
        applyActivity()
        jumped()
        _ = await answer()
    }

    /// Resumes from where ``suspend()`` interrupted.
    package func resume() async {
        handleReports()
        guard case .suspended = activity else { return }
        activity.resume()
        if activity.playback == .playing, chain.isEmpty, let item = list.current { start(item, at: position) }
        applyActivity()
        _ = await answer()
    }

    private func requirePlayer() throws(PlayerError) {
        handleReports()
        guard !list.isEmpty else { throw .emptyQueue }
        guard activity.playback != .stopped, activity.ending != .command, list.current != nil else { throw .stopped }
    }

    private func startCurrent() {
        activity.playback = .playing
        if let item = list.current { start(item, at: 0) }
        currentChanged()
        jumped()
    }

    private func seekCurrent(to seconds: Double) async throws -> AudioStatus {
        guard let item = list.current else { return await answer() }
        if news.isLive(item.id) { throw PlayerError.notSeekable(item: item.fileName) }
        if let duration = item.duration, seconds >= duration {
            throw PlayerError.pastEnd(item: item.fileName, time: seconds, duration: duration)
        }
        start(item, at: seconds)
        jumped()
        return await answer()
    }

    /// Ends the current item, as at its end; `duration` is its length in seconds.
    private func endCurrent(at duration: Double) {
        let before = list.version
        let outcome = list.finishCurrent()
        if list.version != before { queueChanged() }
        switch outcome {
        case .play(let id), .pause(let id):
            if case .pause = outcome { activity.playback = .paused }
            if let item = list.item(id) { start(item, at: 0) }
            applyActivity()
        case .stay(let id): if let item = list.item(id) { start(item, at: duration) }
        case .stop: finish(.command)
        }
    }

    func answer() async -> AudioStatus {
        stateChanged()
        await commit()
        return present()
    }
}
