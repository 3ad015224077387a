/// What the decoder thread does next. Of two orders of one epoch the second joins on to the first.
enum DecoderOrder {
    case decode(DecodingJob, epoch: Int)
    /// Nothing follows the item that ended: its last samples are wanted.
    case endTail(epoch: Int)
}

/// What the decoder thread calls; all of it may block.
extension Pipeline {
    /// judgement: an item of a few frames that repeats is not opened thousands of times a second. Items under 50 ms, once
    /// there were so many in a row, begin so far apart; above that length sound still has no gap.
    private static var shortJobsAtOnce: Int { 50 }
    private static var openingInterval: Int64 { 50_000_000 }

    /// What to do next, once there is something; `nil` when the pipeline is shut down.
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
        // The player gives the one after it.
        if case .decode = order { reports.send() }
        return order
    }

    /// Announces samples of `format` that belong to `job` from `seconds` on. False when nobody wants them any more.
    ///
    /// Samples of one format are in the ring at a time, so another format waits here until it has run empty.
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

    /// Puts samples into the ring, waiting for room. False when nobody wants them any more.
    func append(_ samples: UnsafePointer<Int16>, frames: Int, of job: DecodingJob) -> Bool {
        append(samples, frames: frames) { $0.decoding == job.token }
    }

    /// The last samples of an item that has ended, `isEnd` with the very last. False when nobody wants them any more.
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

    /// `hasTail`: its last samples are still to come, by ``appendTail(_:frames:isEnd:epoch:)``.
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
