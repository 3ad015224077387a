import BackgrounderAPI

/// The state of the pipeline at one moment, as the player sees it.
struct PipelineSnapshot {
    /// The job that is heard, and the seconds of its item heard so far.
    var token: Int
    var elapsed: Double
    /// Whether the position advances by itself.
    var isAdvancing: Bool
    /// Seconds that are decoded but not heard yet.
    var buffered: Double
    var device: OpenDevice?
    /// Whether the device has taken samples since it was opened.
    var hasPlayed: Bool
    /// When the output entered libao, in nanoseconds of the monotonic clock; nil outside of it.
    var busySince: Int64?
    var isDrained: Bool
    var failure: OutputFailure?
    var underruns: Int
    var stuckThreads: Int
}

/// The player's side of the pipeline. Nothing here blocks.
extension Pipeline {
    func snapshot() -> PipelineSnapshot {
        monitor.withLock { state in
            let now = monotonicNow()
            let heard = state.meter.heard(at: now)
            if let current = state.marks.lastIndex(where: { $0.frame <= heard }), current > 0 {
                state.marks.removeFirst(current)
            }
            let (token, elapsed) = position(state, now)
            return PipelineSnapshot(
                token: token,
                elapsed: elapsed,
                isAdvancing: state.meter.isRunning(at: now),
                buffered: state.ring.map { Double(max(0, $0.written - heard)) / Double($0.format.rate) } ?? 0,
                device: state.device,
                hasPlayed: state.givenSinceOpen > 0 || state.pacing != nil,
                busySince: state.busy?.since,
                isDrained: state.isDrained,
                failure: state.failure,
                underruns: state.underruns,
                stuckThreads: state.stuckThreads
            )
        }
    }

    /// Returns the job that is heard at `now`, and the seconds of its item heard so far.
    func position(_ state: PipelineState, _ now: Int64) -> (token: Int, elapsed: Double) {
        let heard = state.meter.heard(at: now)
        guard let first = state.marks.first else { return (state.origin.token, state.origin.seconds) }
        let mark = state.marks.last { $0.frame <= heard } ?? first
        return (mark.token, mark.seconds + Double(max(0, heard - mark.frame)) / Double(mark.rate))
    }

    /// Returns the decoder's reports since the last call.
    func takeDecoderReports() -> [DecoderReport] {
        monitor.withLock { state in
            defer { state.decoderReports = [] }
            return state.decoderReports
        }
    }

    /// Returns whether the device was closed on request since the last call.
    func takeClosed() -> Bool {
        monitor.withLock { state in
            defer { state.isClosed = false }
            return state.isClosed
        }
    }

    /// Reports the next sound, as after a rest, because a device may delay what it was handed. A file has no clock and is
    /// left out.
    func awaitProgress() {
        monitor.withLock { state in
            if state.device?.kind != .file { state.isProgressTold = false }
        }
    }

    /// Discards everything that was not heard and starts `job`; without a job it falls silent.
    func restart(with job: DecodingJob?) {
        monitor.withLock { state in
            // Do not repeat the part of an announcement that was heard.
            settlePacing(&state, isInterrupted: true)
            // The announcement keeps the device open, and the next job finds it open.
            if job != nil, state.announcements.holdsDevice { state.closeRequested = false }
            let frame = state.ring?.read ?? 0
            state.upcoming = job
            state.epoch += 1
            keepOn(&state, with: job)
            state.isProgressTold = false
            state.hasTail = false
            state.shortJobs = 0
            state.decoding = nil
            state.isLast = false
            state.isDrained = false
            state.isPrimed = false
            state.isFilling = true
            state.pacing = nil
            state.failure = nil
            state.ring?.truncate(to: frame)
            state.marks = []
            state.meter = PositionMeter(at: frame)
            state.origin = Mark(frame: frame, token: job?.token ?? -1, seconds: job?.start ?? 0, rate: 1)
        }
        signalBoth()
    }

    /// Offers the decoder its next job. Returns false while it has not taken the previous one.
    func offer(_ job: DecodingJob) -> Bool {
        let isTaken = monitor.withLock { state in
            guard state.upcoming == nil else { return false }
            state.upcoming = job
            state.isLast = false
            state.isDrained = false
            return true
        }
        monitor.signal(.decoder)
        return isTaken
    }

    /// Sets whether the decoder's current job is the last one.
    func setLast(_ isLast: Bool) {
        monitor.withLock { state in
            // Called on every look at the queue, and it rarely changes.
            guard state.isLast != isLast else { return }
            state.isLast = isLast
            if !isLast { state.isDrained = false }
            monitor.signal(.output)
            if state.hasTail { monitor.signal(.decoder) }
        }
    }

    /// Takes back a job and all after it. Returns false if the device already has samples of it.
    func drop(from token: Int) -> Bool {
        let isDropped = monitor.withLock { state in
            if let index = state.marks.firstIndex(where: { $0.token == token }), let ring = state.ring {
                let frame = state.marks[index].frame
                guard index > 0, frame > ring.read || (frame == ring.read && state.pacing == nil) else { return false }
                ring.truncate(to: frame)
                state.marks.removeSubrange(index...)
            }
            if let decoding = state.decoding, decoding >= token { state.decoding = nil }
            if let upcoming = state.upcoming, upcoming.token >= token { state.upcoming = nil }
            state.isDrained = false
            return true
        }
        signalBoth()
        return isDropped
    }

    func setPlaying(_ isPlaying: Bool) {
        monitor.withLock { state in
            if isPlaying != state.isPlaying { state.isProgressTold = false }
            state.isPlaying = isPlaying
        }
        monitor.signal(.output)
    }

    func requestClose() {
        monitor.withLock { $0.closeRequested = true }
        monitor.signal(.output)
    }

    func setGain(_ gain: Int32) { monitor.withLock { $0.gain = gain } }

    /// Sets the replay gain to apply, from the next samples on. Not `auto`.
    func setReplayGain(_ mode: ReplayGainMode) { monitor.withLock { $0.replayGain = mode } }

    /// Sets whether the output may open a device now, and which devices it may try.
    func setOpening(allowed: Bool, reach: DeviceReach) {
        monitor.withLock { state in
            state.mayOpen = allowed
            state.reach = reach
        }
        monitor.signal(.output)
    }

    /// Fails the opening of a device for lack of a thread. Has no effect while no device may be opened.
    func refuseOpening(reason: String) {
        monitor.withLock { if $0.mayOpen { $0.failure = .notOpened(reason: reason) } }
        reports.send()
    }

    func leaveFallback() { monitor.withLock { $0.leaveFallback = true } }

    /// Abandons an output thread that hangs. Returns the number for the next one.
    func abandonOutput() -> Int {
        monitor.withLock { state in
            state.owner += 1
            state.stuckThreads += 1
            state.busy = nil
            state.device = nil
            state.closeRequested = false
            return state.owner
        }
    }

    func shutDown() {
        monitor.withLock { $0.isShutDown = true }
        monitor.signal(.keeper)
        monitor.signal(.announcer)
        signalBoth()
    }

    private func signalBoth() {
        monitor.signal(.decoder)
        monitor.signal(.output)
    }
}
