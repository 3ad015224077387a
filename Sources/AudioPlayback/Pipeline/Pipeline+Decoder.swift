import MediaFiles
import SystemSupport

/// The decoder thread's side of the pipeline. Everything here may block.
extension Pipeline {
    /// Waits for the next order. Returns nil when the pipeline is shut down.
    func nextDecoderOrder() -> DecoderOrder? {
        let order: DecoderOrder? = monitor.wait(as: .decoder) { state in
            state.isShutDown ? .done(nil) : state.decoder.nextOrder()
        }
        // Makes the player offer the item after it.
        if case .decode = order { reports.send() }
        return order
    }

    /// Starts a run of samples in `format` that belong to `job` from `seconds` on. Returns false if they are no longer
    /// wanted.
    ///
    /// The ring holds one format at a time, so a change of format waits here until the ring is empty.
    func begin(_ job: DecodingJob, format: AudioFormat, seconds: Double, gain: ReplayGain, bitrate: Int?) -> Bool {
        monitor.wait(as: .decoder) { state in
            guard state.decoder.isWanted(job), !state.isShutDown else {
                state.music.cancelDrain()
                return .done(false)
            }
            if state.music.format != format {
                guard state.music.change(to: format) else {
                    state.wakeStarvedOutput()
                    return .wait()
                }
                state.output.refill()
            }
            state.music.begin(job, seconds: seconds, gain: gain, bitrate: bitrate)
            return .done(true)
        }
    }

    /// Appends samples to the ring, waiting for room. Returns false if they are no longer wanted.
    func append(_ samples: UnsafePointer<Int16>, frames: Int, of job: DecodingJob) -> Bool {
        append(samples, frames: frames) { $0.isWanted(job) }
    }

    /// Appends the last samples of an item that has ended, `isEnd` with the very last. Returns false if they are no longer
    /// wanted.
    func appendTail(_ samples: UnsafePointer<Int16>, frames: Int, isEnd: Bool, epoch: Int) -> Bool {
        guard append(samples, frames: frames, while: { $0.epoch == epoch }) else { return false }
        return monitor.withLock { state in
            guard state.decoder.epoch == epoch else { return false }
            if isEnd {
                state.decoder.endTail()
                state.wakeStarvedOutput()
            }
            return true
        }
    }

    private func append(
        _ samples: UnsafePointer<Int16>,
        frames: Int,
        while isWanted: (DecoderState) -> Bool
    ) -> Bool {
        var done = 0
        while done < frames {
            let put: Int? = monitor.wait(as: .decoder) { state in
                guard isWanted(state.decoder), !state.isShutDown, let ring = state.music.ring else { return .done(nil) }
                let count = ring.room(for: frames - done)
                guard count > 0 else { return .wait() }
                ring.append(samples + done * ring.format.channels, frames: count)
                state.decoder.decoded(count)
                state.wakeStarvedOutput()
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
            state.decoder.finish(job, fault, hasTail: hasTail, rate: state.music.format?.rate ?? 0)
            state.wakeStarvedOutput()
        }
        reports.send()
    }

    func fail(_ job: DecodingJob, reason: String) {
        monitor.withLock { state in
            state.decoder.fail(job, reason)
            state.wakeStarvedOutput()
        }
        reports.send()
    }
}
