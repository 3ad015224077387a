import Logging
import MediaFiles
import SystemSupport

/// Recovering the output: a thread that hangs is abandoned, and a lost device is reopened at the heard position.
extension QueuePlayer {
    /// Tuned: a call of libao takes well under a second; after three the sound server hangs.
    private static var stallLimit: Duration { .seconds(3) }

    /// Starts the threads that are missing. If the system has none, the output counts as not opened: reported and retried.
    func startThreadsIfNeeded() {
        startPositionWriterIfNeeded()
        let hasDecoder = pipeline.startDecoderIfNeeded()
        if !pipeline.startOutputIfNeeded(opener) {
            pipeline.refuseOpening(reason: "the system cannot start a thread for the output")
        }
        if !hasDecoder { pipeline.refuseOpening(reason: "the system cannot start a thread for the decoder") }
    }

    /// Handles the reports of the output.
    func handleOutput(_ snapshot: PipelineSnapshot) {
        if let device = snapshot.device, recovery.noteOpened(device) {
            writes.send(.changed)
            if device.isFallback { logger.warning("Playing in silence: \(device.description)") }
        }
        if let failure = snapshot.failure {
            switch failure {
            case .lost(let device?, let code) where device.kind == .file: fileFailed(device.description, code)
            case .lost(let device, _):
                interrupted(device.map { "\($0.driver): the device was lost" } ?? "the device was lost")
            case .notOpened(let reason): interrupted(reason)
            }
        } else if recovery.isWaiting, snapshot.hasPlayed, let device = snapshot.device {
            logger.notice("The output is back: \(device.driver), \(device.description)")
            endOutage()
            writes.send(.changed)
        }
        if activity.playback == .playing && recovery.isWaiting || isAnnouncing { startThreadsIfNeeded() }
        if mayHang(snapshot) { watchOutput() }
        probeForDevice(snapshot)
    }

    /// Handles a new setting of ``PlayerOptions/outputEnabled``.
    func outputChanged() {
        let isEnabled = list.options.outputEnabled
        logger.notice("The sound output is \(isEnabled ? "enabled" : "disabled")")
        guard !isEnabled else { return }
        dropAnnouncements(because: "the sound output was disabled")
        endOutage()
        applyActivity()
    }

    /// Handles an output that failed: retries a little later, from the heard position.
    private func interrupted(_ reason: String) {
        if !isAnnouncing, activity.playback != .playing { return interruptedWhileNotPlaying(reason) }
        if let ending = activity.ending {
            pipeline.restart(with: nil)
            stopped(ending)
        }
        if recovery.fail(reason) {
            note(path: nil, reason)
            logger.error("The output stalled: \(reason); retrying")
        }
        pipeline.setReach(nil)
        if activity.playback != .stopped, let current = list.current {
            start(current, at: elapsed ?? 0)
        } else {
            pipeline.restart(with: nil)
        }
        resumeAnnouncement()
        jumped()
        let clock = clock
        recovery.startRetry { delay in
            Task {
                guard (try? await clock.sleep(for: delay)) != nil else { return }
                retryOutput()
            }
        }
    }

    /// Handles an output that failed while nothing plays: keeps the position; playing opens the device again.
    private func interruptedWhileNotPlaying(_ reason: String) {
        if let ending = activity.ending {
            pipeline.restart(with: nil)
            stopped(ending)
        } else if activity.playback == .paused, let current = list.current {
            note(path: nil, reason)
            start(current, at: elapsed ?? 0)
        } else {
            pipeline.restart(with: nil)
        }
    }

    /// Stops after the output file could not be written. No retry: another file would fill the same disk.
    private func fileFailed(_ path: String, _ code: CInt) {
        let reason = code == 0 ? "cannot be written" : systemMessage(code)
        note(path: path, reason)
        logger.error("\(printable(path)): \(reason); stopped")
        dropAnnouncements(because: "the output cannot be written")
        stopped(.command)
        jumped()
    }

    private func retryOutput() {
        // Cancelled after the sleep, in which case the outage has ended or another attempt failed.
        guard !Task.isCancelled, !activity.isShutDown else { return }
        allowOpening()
        startThreadsIfNeeded()
    }

    /// Allows opening a device again.
    func allowOpening() { pipeline.setReach(recovery.reach(stuckThreads: pipeline.snapshot().stuckThreads)) }

    /// Ends an outage: the output is back, or nothing needs it.
    func endOutage() {
        recovery.end()
        allowOpening()
    }

    // MARK: Detecting hangs

    /// Whether the output may block forever now. The paced device never does.
    private func mayHang(_ snapshot: PipelineSnapshot) -> Bool {
        let plays = activity.isSounding && snapshot.device?.kind != .paced
        let isEnding = activity.ending != nil
        return (plays || isEnding || isAnnouncing || snapshot.busySince != nil) && !activity.isShutDown
    }

    /// Watches the output thread from the start of playing until it can no longer hang.
    func watchOutput() {
        guard watchdog == nil else { return }
        let clock = clock
        watchdog = Task {
            var pause = Self.stallLimit
            while (try? await clock.sleep(for: pause)) != nil, let next = await self.checkOutput() { pause = next }
        }
    }

    /// Checks the output. Returns the time to wait before the next check, or nil when there is nothing to check.
    private func checkOutput() async -> Duration? {
        guard mayHang(pipeline.snapshot()) else {
            watchdog = nil
            return nil
        }
        let announcementLeft = await checkAnnouncement(limit: Self.stallLimit)
        // Look again: the write meanwhile may have taken longer than the limit.
        guard let busySince = pipeline.snapshot().busySince else { return announcementLeft ?? Self.stallLimit }
        let limit = Int64(Self.stallLimit.seconds * 1e9)
        let age = MonotonicTime.now.nanoseconds - busySince
        guard age >= limit - 1_000_000 else { return .nanoseconds(limit - age) }
        await abandonOutput()
        return Self.stallLimit
    }

    private func abandonOutput() async {
        handleReports()
        pipeline.abandonOutput()
        if !isAnnouncing, activity.playback != .playing {
            logger.error("The audio output does not close; abandoning it")
            if let ending = activity.ending { stopped(ending) }
        } else {
            interrupted(
                "\(recovery.lastDevice?.driver ?? configuration.driver.shortName): the sound server does not answer"
            )
        }
        await commit()
    }
}
