import BackgrounderAPI

/// The output thread's next step.
enum OutputOrder {
    case open(AudioFormat, DeviceReach)
    /// Scale the frames in the thread's own buffer by `gain` and hand them to the device.
    case play(frames: Int, gain: Int32)
    /// Play `silence` frames of silence, then close; a device that has not started to play yet needs them to be heard.
    case close(silence: Int)
    /// End: another thread has taken over, or the pipeline is shut down.
    case retire
}

/// The output thread's side of the pipeline. `thread` is the number it was started with; an abandoned thread only gets
/// `retire`.
extension Pipeline {
    /// Returns the frames of one step.
    ///
    /// Tuned: live, pause and seek wait for at most one step, and a step is half of what the device holds, because the
    /// rest has to last until the next one. Paced, few wakeups, and as much as the decoder appends at a time. File, large,
    /// because it runs as fast as it can.
    func stepFrames(_ kind: OpenDevice.Kind, rate: Int) -> Int {
        switch kind {
        case .live: Int(Double(rate) * min(0.15, latency.seconds / 2))
        case .paced: rate * SampleRing.seconds / 2
        case .file: rate / 2
        }
    }
    /// Tuned: decoded before playing starts, so that the disk may stall for a second right afterwards. Takes the decoder a
    /// few milliseconds.
    private static func primingFrames(rate: Int) -> Int { rate * 2 }

    func nextOrder(thread: Int, device: OpenDevice?, into samples: UnsafeMutablePointer<Int16>?) -> OutputOrder {
        monitor.wait(in: .output) { state in
            let step = self.step(&state, thread: thread, device: device, into: samples)
            if case .done(let order) = step {
                state.isStarved = false
                switch order {
                case .open: state.busy = (.opening, monotonicNow())
                case .play: state.busy = (.playing, monotonicNow())
                case .close: state.busy = (.closing, monotonicNow())
                case .retire: break
                }
            }
            return step
        }
    }

    private func step(
        _ state: inout PipelineState,
        thread: Int,
        device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard thread == state.owner else { return .done(.retire) }
        settlePacing(&state)
        let floor = floor(&state, device)
        let isHeld = state.announcements.holdsDevice
        if let device {
            let silence = silence(state, device)
            if state.isShutDown || (state.closeRequested && !isHeld) { return .done(.close(silence: silence)) }
            if !state.isPlaying, !isHeld {
                let staysOpen = device.kind == .file && !state.announcements.ownsDevice
                return staysOpen ? .wait() : .done(.close(silence: silence))
            }
            if !isHeld, let format = state.ring?.format, format != device.format, state.ring?.count ?? 0 > 0 {
                return .done(.close(silence: silence))
            }
            if !isHeld, device.isFallback, state.leaveFallback, state.pacing == nil, isAtItem(state) {
                return .done(.close(silence: 0))
            }
        } else {
            if state.isShutDown { return .done(.retire) }
            if state.closeRequested {
                state.closeRequested = false
                state.isClosed = true
                reports.send()
            }
            if !state.isPlaying && !isHeld || !state.mayOpen || state.failure != nil { return .wait() }
        }
        switch floor {
        case .nobody: return .wait()
        case .announcement: return giveAnnouncement(&state, device, into: samples)
        // Music of another format waits until the announcement over it has ended.
        case .music where !state.isPlaying || isHeld && device != nil && device?.format != state.ring?.format:
            return .wait()
        case .music: break
        }
        guard isReady(&state, device), let rate = state.ring?.format.rate else { return .wait() }
        guard let device else {
            guard let format = state.ring?.format else { return .wait() }
            return .done(.open(format, state.reach))
        }
        let frames = min(stepFrames(device.kind, rate: rate), framesOfItem(state))
        let contents = StepContents(music: true)
        if device.kind == .paced { return pace(&state, contents, frames: frames, rate: rate) }
        guard let samples else { return .wait() }
        let gain = gain(state, on: state.gain)
        takeMusic(&state, frames: frames, into: samples)
        state.giving = contents
        return .done(.play(frames: frames, gain: gain))
    }

    /// Whether enough samples are there to play. Also detects underruns and the end.
    func isReady(_ state: inout PipelineState, _ device: OpenDevice?) -> Bool {
        let count = state.ring?.count ?? 0
        let nothingComes = state.upcoming == nil && state.decoding == nil && !state.hasTail
        if count == 0, nothingComes, state.isLast {
            state.isPrimed = false
            if !state.isDrained {
                state.isDrained = true
                reports.send()
            }
            return false
        }
        if !state.isPrimed {
            let enough = Self.primingFrames(rate: state.ring?.format.rate ?? 1)
            state.isPrimed = count >= enough || (count > 0 && (state.wantsDrain || (nothingComes && state.isLast)))
        } else if count == 0 {
            if let device, device.kind != .file, !state.wantsDrain, state.givenSinceOpen > 0 { state.underruns += 1 }
            state.isPrimed = false
        }
        if !state.isPrimed || count == 0 {
            state.isStarved = true
            state.isProgressTold = false
            wakeDecoder(state)
            return false
        }
        state.isStarved = false
        return true
    }

    func opened(thread: Int, _ device: OpenDevice) -> Bool {
        settle(thread: thread) { state in
            state.device = device
            state.givenSinceOpen = 0
            state.isProgressTold = false
            state.musicSinceOpen = 0
            state.musicRun = 0
            state.announcedRun = 0
            state.leaveFallback = false
            state.pacedUntil = 0
        }
    }

    func notOpened(thread: Int, reason: String) -> Bool {
        settle(thread: thread) { $0.failure = .notOpened(reason: reason) }
    }

    /// Reports that the device took `frames`. Returns false if the thread was abandoned meanwhile.
    func played(thread: Int, frames: Int, buffer: Int, rate: Int) -> Bool {
        monitor.withLock { state in
            guard state.owner == thread else { return false }
            state.busy = nil
            let now = monotonicNow()
            given(&state, frames: frames, buffer: buffer, rate: rate, now: now)
            reportProgress(&state, now)
            return true
        }
    }

    /// Updates the positions. The device holds at most `buffer` frames; music after an announcement that held it is heard
    /// only once the announcement's frames have been.
    private func given(_ state: inout PipelineState, frames: Int, buffer: Int, rate: Int, now: Int64) {
        state.givenSinceOpen += frames
        if state.giving.music {
            state.musicSinceOpen += frames
            state.musicRun += frames
            let between = min(state.announcedRun, max(0, buffer - state.musicRun))
            let read = state.ring?.read ?? 0
            let held = min(buffer - between, state.musicSinceOpen)
            state.meter.run(from: read - held, to: read, rate: rate, now: now, delay: between)
        } else {
            if state.musicRun > 0 { (state.musicRun, state.announcedRun) = (0, 0) }
            state.announcedRun += frames
        }
        if let current = state.announcements.current, current.job.token == state.giving.announcement {
            let read = current.ring?.read ?? 0
            let before = max(0, min(buffer, state.givenSinceOpen) - read)
            state.announcements.current?.meter
                .run(from: read - min(buffer, read), to: read, rate: rate, now: now, delay: before)
        }
    }

    /// Reports that the device took nothing; the thread closes it next.
    func lost(thread: Int, code: CInt) -> Bool {
        settle(thread: thread) { state in
            state.failure = .lost(state.device, code)
            // Forget it before it is closed: samples that it took before the loss do not mean that it is back.
            state.device = nil
            state.givenSinceOpen = 0
            state.busy = (.closing, monotonicNow())
            let now = monotonicNow()
            state.meter = PositionMeter(at: state.meter.heard(at: now))
            if let heard = state.announcements.current?.meter.heard(at: now) {
                state.announcements.current?.meter = PositionMeter(at: heard)
            }
        }
    }

    func closed(thread: Int) -> Bool {
        settle(thread: thread) { state in
            state.device = nil
            state.pacing = nil
            state.announcements.ownsDevice = false
            let given = state.ring?.read ?? 0
            // Closing plays everything the device held. After a loss, the position is what had been heard.
            if state.failure == nil { state.meter = PositionMeter(at: given) }
            if state.closeRequested {
                state.closeRequested = false
                state.isClosed = true
            }
        }
    }

    /// Reports that an abandoned thread has returned and is about to end.
    func retired(thread: Int) {
        monitor.withLock { state in
            if state.owner != thread {
                state.stuckThreads -= 1
            } else {
                state.isClosed = true
            }
        }
        reports.send()
    }

    private func settle(thread: Int, _ body: (inout PipelineState) -> Void) -> Bool {
        defer { reports.send() }
        return monitor.withLock { state in
            guard state.owner == thread else { return false }
            state.busy = nil
            body(&state)
            return true
        }
    }

    // MARK: Inside the lock

    func wakeDecoder(_ state: PipelineState) {
        guard let free = state.ring?.free, let capacity = state.ring?.capacity else { return }
        if free >= capacity / 2 || state.wantsDrain { monitor.signal(.decoder) }
    }

    /// Reports to the player that another item has begun, or that sound has resumed; it needs nothing else.
    func reportProgress(_ state: inout PipelineState, _ now: Int64) {
        if state.keeper.isResting { monitor.signal(.keeper) }
        let crossed = state.marks.count > 1 && state.marks[1].frame <= state.meter.heard(at: now)
        guard crossed || !state.isProgressTold else { return }
        state.isProgressTold = true
        reports.send()
    }

    /// The frames left before the next item begins.
    func framesOfItem(_ state: PipelineState) -> Int {
        let read = state.ring?.read ?? 0
        let end = state.marks.first { $0.frame > read }?.frame ?? .max
        return min(state.ring?.count ?? 0, end - read)
    }

    private func isAtItem(_ state: PipelineState) -> Bool {
        guard let read = state.ring?.read else { return false }
        return state.marks.contains { $0.frame == read }
    }

    private func silence(_ state: PipelineState, _ device: OpenDevice) -> Int {
        guard device.kind == .live, state.givenSinceOpen > 0 else { return 0 }
        return max(0, device.format.frames(state.latency * 1.25) - state.givenSinceOpen)
    }
}
