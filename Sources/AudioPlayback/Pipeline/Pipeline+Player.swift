import BackgrounderAPI
import MediaFiles
import SystemSupport

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
    /// The music that the output took so far, in seconds.
    var playtime: Double
    var stuckThreads: Int
    /// The bit rate of the item that is heard, in kbit/s.
    var bitrate: Int?
    /// The title of the live stream that is heard.
    var title: String?
    /// The job from the network that the output waits for, and why; nil if there is sound.
    var late: (token: Int, reason: String)?
}

/// The player's side of the pipeline. Nothing here blocks.
extension Pipeline {
    func snapshot() -> PipelineSnapshot {
        monitor.withLock { state in
            let now = MonotonicTime.now.nanoseconds
            state.music.forgetHeard(at: now)
            let (token, elapsed) = state.music.position(at: now)
            return PipelineSnapshot(
                token: token,
                elapsed: elapsed,
                isAdvancing: state.music.isAdvancing(at: now),
                buffered: state.music.buffered(at: now),
                device: state.output.device,
                hasPlayed: state.output.handed.total > 0 || state.output.pacedStep != nil,
                busySince: state.output.busySince,
                isDrained: state.output.isDrained,
                failure: state.output.failure,
                underruns: state.output.underruns,
                playtime: state.output.playtime,
                stuckThreads: state.threads.stuck(.output),
                bitrate: state.music.bitrate(at: now),
                title: state.music.title(at: now),
                late: state.output.isPlaying && state.output.isFilling ? state.decoder.lateStream : nil
            )
        }
    }

    // MARK: Jobs

    /// Returns the decoder's reports since the last call.
    func takeDecoderReports() -> [DecoderReport] { monitor.withLock { $0.decoder.takeReports() } }

    /// Discards everything that was not heard and starts `job`; without a job it falls silent.
    func restart(with job: DecodingJob?) {
        monitor.withLock { $0.restart(with: job) }
        wakeDecoderAndOutput()
    }

    /// Offers the decoder its next job. Returns false while it has not begun the previous one.
    func offer(_ job: DecodingJob) -> Bool {
        let isAccepted = monitor.withLock { state in
            guard state.decoder.offer(job) else { return false }
            state.output.expectMore()
            return true
        }
        rooms.wake(.decoder)
        return isAccepted
    }

    /// Sets whether the decoder's current job is the last one.
    func setLast(_ isLast: Bool) {
        monitor.withLock { state in
            // Called on every look at the queue, and it rarely changes.
            guard state.decoder.setLast(isLast) else { return }
            if !isLast { state.output.expectMore() }
            rooms.wake(.output)
            if state.decoder.hasTail { rooms.wake(.decoder) }
        }
    }

    /// Withdraws a job and all after it. Returns false if the device already has samples of it.
    func withdraw(from token: Int) -> Bool {
        let isWithdrawn = monitor.withLock { state in
            let isStepping = state.output.pacedStep != nil
            guard state.music.withdraw(from: token, isStepping: isStepping) else { return false }
            state.decoder.withdraw(from: token)
            state.output.expectMore()
            return true
        }
        wakeDecoderAndOutput()
        return isWithdrawn
    }

    // MARK: Output

    func setPlaying(_ isPlaying: Bool) {
        monitor.withLock { $0.output.setPlaying(isPlaying) }
        rooms.wake(.output)
    }

    /// Reports the next sound, as after a rest, because a device may delay what it was handed. A file has no clock and is
    /// left out.
    func awaitProgress() { monitor.withLock { $0.output.awaitProgress() } }

    func setGain(_ gain: Int32) { monitor.withLock { $0.output.setGain(gain) } }

    /// Sets the replay gain to apply, from the next samples on. Not `auto`.
    func setReplayGain(_ mode: ReplayGainMode) { monitor.withLock { $0.output.setReplayGain(mode) } }

    func requestClose() {
        monitor.withLock { $0.output.requestClose() }
        rooms.wake(.output)
    }

    /// Returns whether the device was closed on request since the last call.
    func takeClosed() -> Bool { monitor.withLock { $0.output.takeClosed() } }

    /// Sets which devices the output may try to open; nil while it may not open any.
    func setReach(_ reach: DeviceReach?) {
        monitor.withLock { $0.output.setReach(reach) }
        rooms.wake(.output)
    }

    /// Fails the opening of a device for lack of a thread. Has no effect while no device may be opened.
    func refuseOpening(reason: String) {
        monitor.withLock { state in
            if state.output.reach != nil { state.output.fail(.notOpened(reason: reason)) }
        }
        reports.send()
    }

    func leaveFallback() { monitor.withLock { $0.output.leaveFallback() } }

    // MARK: Threads

    /// Has `start` start a thread with the number that it is passed, unless one works or `limit` threads hang. `start` returns
    /// false if the system has no thread.
    func startThread(
        _ thread: PipelineThread,
        limit: Int = .max,
        _ start: (Int) -> Bool
    ) -> ThreadSlots.Start {
        let claim = monitor.withLock { $0.threads.claim(thread, limit: limit) }
        switch claim {
        case .refused(let reason): return reason
        case .claimed(let number):
            if start(number) { return .works }
            monitor.withLock { $0.threads.end(thread) }
            return .noThread
        }
    }

    var hasOutputThread: Bool { monitor.withLock { $0.threads.isRunning(.output) } }

    /// Abandons an output thread that hangs, with its device.
    func abandonOutput() {
        monitor.withLock { state in
            state.threads.abandon(.output)
            state.output.abandonDevice()
        }
    }

    func shutDown() {
        monitor.withLock { $0.shutDown() }
        rooms.wake(.position)
        rooms.wake(.announcer)
        wakeDecoderAndOutput()
    }

    private func wakeDecoderAndOutput() {
        rooms.wake(.decoder)
        rooms.wake(.output)
    }
}
