import BackgrounderAPI

/// What the player sees of the pipeline at one moment.
struct PipelineSnapshot {
    /// The job that is heard, and the seconds of its item that have been.
    var token: Int
    var elapsed: Double
    /// Whether the position goes on by itself.
    var isAdvancing: Bool
    /// Seconds that are decoded and not yet heard.
    var buffered: Double
    var device: OpenDevice?
    /// The device has taken samples since it was opened.
    var hasPlayed: Bool
    /// In nanoseconds of the monotonic clock: since when the output has been inside libao.
    var busySince: Int64?
    var isDrained: Bool
    var failure: OutputFailure?
    var underruns: Int
    var stuckThreads: Int
}

/// What the player calls; none of it blocks.
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

    /// The job that is heard at `now`, and the seconds of its item that have been.
    func position(_ state: PipelineState, _ now: Int64) -> (token: Int, elapsed: Double) {
        let heard = state.meter.heard(at: now)
        guard let first = state.marks.first else { return (state.origin.token, state.origin.seconds) }
        let mark = state.marks.last { $0.frame <= heard } ?? first
        return (mark.token, mark.seconds + Double(max(0, heard - mark.frame)) / Double(mark.rate))
    }

    /// What the decoder has reported since the last call.
    func takeDecoderReports() -> [DecoderReport] {
        monitor.withLock { state in
            defer { state.decoderReports = [] }
            return state.decoderReports
        }
    }

    /// Whether the device was closed on request since the last call.
    func takeClosed() -> Bool {
        monitor.withLock { state in
            defer { state.isClosed = false }
            return state.isClosed
        }
    }

    /// The next sound is reported, as it is behind a rest: a device may hold up what it was given. A file has no time.
    func awaitProgress() {
        monitor.withLock { state in
            if state.device?.kind != .file { state.isProgressTold = false }
        }
    }

    /// Forgets all that was not heard and begins with `job`; without one it falls silent.
    func restart(with job: DecodingJob?) {
        monitor.withLock { state in
            // What was heard of an announcement is not heard again.
            settlePacing(&state, isInterrupted: true)
            // The device stays open for it, and whatever plays next finds it open.
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

    /// Gives the decoder what follows; false while it has not taken the one before.
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

    /// Says whether anything will follow what the decoder has.
    func setLast(_ isLast: Bool) {
        monitor.withLock { state in
            // Said at each look at the queue, and seldom news.
            guard state.isLast != isLast else { return }
            state.isLast = isLast
            if !isLast { state.isDrained = false }
            monitor.signal(.output)
            if state.hasTail { monitor.signal(.decoder) }
        }
    }

    /// Takes a job and all behind it back. False when the device was given some of it already.
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

    /// Which gain of the items acts, at once; not `auto`.
    func setReplayGain(_ mode: ReplayGainMode) { monitor.withLock { $0.replayGain = mode } }

    /// Whether the output may open a device now, and how far it may go.
    func setOpening(allowed: Bool, reach: DeviceReach) {
        monitor.withLock { state in
            state.mayOpen = allowed
            state.reach = reach
        }
        monitor.signal(.output)
    }

    /// There is no thread that could open a device. Without effect while none may be opened.
    func refuseOpening(reason: String) {
        monitor.withLock { if $0.mayOpen { $0.failure = .notOpened(reason: reason) } }
        reports.send()
    }

    func leaveFallback() { monitor.withLock { $0.leaveFallback = true } }

    /// Leaves an output thread that hangs to itself. The next one gets the number that is returned.
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
