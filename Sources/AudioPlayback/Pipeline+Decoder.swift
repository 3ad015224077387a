/// The decoder thread's next step. Two orders of one epoch join without a gap.
enum DecoderOrder {
    case decode(DecodingJob, epoch: Int)
    /// Nothing follows the item that ended: deliver its last samples.
    case endTail(epoch: Int)
}

/// The decoder thread's side of the pipeline. Everything here may block.
extension Pipeline {
    /// Tuned: keeps a repeated item of a few frames from being opened thousands of times a second. After this many items
    /// under 50 ms in a row, the next ones start at least that far apart; longer items still join without a gap.
    private static var shortJobsAtOnce: Int { 50 }
    private static var openingInterval: Int64 { 50_000_000 }

    /// Waits for the next order. Returns nil when the pipeline is shut down.
    func takeOrder() -> DecoderOrder? {
        let order: DecoderOrder? = monitor.wait(in: .decoder) { state in
            if state.isShutDown { return .done(nil) }
            guard let job = state.upcoming else {
                return state.hasTail && state.isLast ? .done(.endTail(epoch: state.epoch)) : .wait()
            }
            if state.shortJobs > Self.shortJobsAtOnce {
                guard monotonicNow() >= state.nextOpening else { return .wait(until: state.nextOpening) }
                state.nextOpening = monotonicNow() + Self.openingInterval
            }
            state.decodedFrames = 0
            state.upcoming = nil
            state.decoding = job.token
            return .done(.decode(job, epoch: state.epoch))
        }
        // Makes the player offer the item after it.
        if case .decode = order { reports.send() }
        return order
    }

    /// Starts a run of samples in `format` that belong to `job` from `seconds` on. Returns false if they are no longer
    /// wanted.
    ///
    /// The ring holds one format at a time, so a change of format waits here until the ring is empty.
    func begin(_ job: DecodingJob, format: AudioFormat, seconds: Double, gain: ReplayGain) -> Bool {
        monitor.wait(in: .decoder) { state in
            guard state.decoding == job.token, !state.isShutDown else {
                state.wantsDrain = false
                return .done(false)
            }
            if state.ring?.format != format {
                if let count = state.ring?.count, count > 0 {
                    state.wantsDrain = true
                    self.wakeStarvedOutput(&state)
                    return .wait()
                }
                state.ring = SampleRing(format: format, at: state.ring?.written ?? 0)
                state.isPrimed = false
                state.isFilling = true
            }
            state.wantsDrain = false
            let frame = state.ring?.written ?? 0
            state.marks.append(
                Mark(frame: frame, token: job.token, seconds: seconds, rate: format.rate, replayGain: gain)
            )
            return .done(true)
        }
    }

    /// Appends samples to the ring, waiting for room. Returns false if they are no longer wanted.
    func append(_ samples: UnsafePointer<Int16>, frames: Int, of job: DecodingJob) -> Bool {
        append(samples, frames: frames) { $0.decoding == job.token }
    }

    /// Appends the last samples of an item that has ended, `isEnd` with the very last. Returns false if they are no longer
    /// wanted.
    func appendTail(_ samples: UnsafePointer<Int16>, frames: Int, isEnd: Bool, epoch: Int) -> Bool {
        guard append(samples, frames: frames, while: { $0.epoch == epoch }) else { return false }
        return monitor.withLock { state in
            guard state.epoch == epoch else { return false }
            if isEnd {
                state.hasTail = false
                wakeStarvedOutput(&state)
            }
            return true
        }
    }

    private func append(
        _ samples: UnsafePointer<Int16>,
        frames: Int,
        while isWanted: (PipelineState) -> Bool
    ) -> Bool {
        var done = 0
        while done < frames {
            let put: Int? = monitor.wait(in: .decoder) { state in
                guard isWanted(state), !state.isShutDown, let ring = state.ring else { return .done(nil) }
                if !state.isFilling, ring.free < ring.capacity / 2 { return .wait() }
                let count = min(frames - done, ring.free)
                state.isFilling = count > 0
                guard count > 0 else { return .wait() }
                let channels = ring.format.channels
                state.ring?.append(samples + done * channels, frames: count)
                state.decodedFrames += count
                self.wakeStarvedOutput(&state)
                return .done(count)
            }
            guard let put else { return false }
            done += put
        }
        return true
    }

    /// Ends a job. With `hasTail` its last samples follow by ``appendTail(_:frames:isEnd:epoch:)``.
    func finish(_ job: DecodingJob, fault: DecodingFault?, hasTail: Bool = false) {
        monitor.withLock { state in
            if let fault { state.decoderReports.append(.faulty(job, fault)) }
            let isShort = state.decodedFrames < (state.ring?.format.rate ?? 0) / 20
            state.shortJobs = isShort ? state.shortJobs + 1 : 0
            if state.decoding == job.token {
                state.decoding = nil
                state.hasTail = hasTail
            }
            wakeStarvedOutput(&state)
        }
        reports.send()
    }

    func fail(_ job: DecodingJob, reason: String) {
        monitor.withLock { state in
            state.decoderReports.append(.failed(job, reason: reason))
            if state.decoding == job.token { state.decoding = nil }
            wakeStarvedOutput(&state)
        }
        reports.send()
    }

    private func wakeStarvedOutput(_ state: inout PipelineState) {
        if state.isStarved { monitor.signal(.output) }
    }
}
