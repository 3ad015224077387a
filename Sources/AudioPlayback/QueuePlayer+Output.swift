import BackgrounderAPI
import Logging

/// The time from the loss, hang or failed opening of a device until it takes samples again.
struct Outage {
    var reason: String
    var attempts = 0
    var delay = Duration.milliseconds(250)
}

/// Recovering the output: a thread that hangs is abandoned, and a lost device is reopened at the heard position.
extension QueuePlayer {
    /// Tuned: a call of libao takes well under a second; after three the sound server hangs.
    private static var stallLimit: Duration { .seconds(3) }
    /// Tuned: the longest time between two attempts; sound returns soon after its device does.
    private static var longestRetry: Duration { .seconds(4) }
    /// Tuned: attempts to reopen a lost device before `auto` continues in silence; long enough to restart a sound server.
    private static var attemptsBeforeFallback: Int { 4 }
    /// Tuned: the most output threads that may hang; each holds memory and a connection.
    private static var mostStuckThreads: Int { 4 }
    /// Tuned: hanging threads after which `auto` continues in silence, while there is still room for others.
    private static var stuckThreadsBeforeFallback: Int { 2 }

    /// Starts the threads that are missing. If the system has none, the output counts as not opened: reported and retried.
    func startThreadsIfNeeded() {
        startKeeperIfNeeded()
        if !hasDecoderThread { hasDecoderThread = DecoderThread.start(pipeline) }
        if !hasOutputThread, pipeline.snapshot().stuckThreads < Self.mostStuckThreads {
            hasOutputThread = OutputThread.start(outputNumber, pipeline, opener)
            if !hasOutputThread { pipeline.refuseOpening(reason: "the system cannot start a thread for the output") }
        }
        if !hasDecoderThread { pipeline.refuseOpening(reason: "the system cannot start a thread for the decoder") }
    }

    /// Handles the reports of the output.
    func settleOutput(_ snapshot: PipelineSnapshot) {
        if let device = snapshot.device, device != lastDevice {
            lastDevice = device
            if device.kind == .live { hadSound = true }
            unsentEvents.append(.changed)
            if device.isFallback { logger.warning("Playing in silence: \(device.description)") }
        }
        if let failure = snapshot.failure {
            switch failure {
            case .lost(let device?, let code) where device.kind == .file: fileFailed(device.description, code)
            case .lost(let device, _):
                interrupted(device.map { "\($0.driver): the device was lost" } ?? "the device was lost")
            case .notOpened(let reason): interrupted(reason)
            }
        } else if outage != nil, snapshot.hasPlayed, let device = snapshot.device {
            logger.notice("The output is back: \(device.driver), \(device.description)")
            outage = nil
            allowOpening()
            unsentEvents.append(.changed)
        }
        if intent == .playing && outage != nil || isAnnouncing { startThreadsIfNeeded() }
        if mayHang(snapshot) { watchOutput() }
        probeForDevice(snapshot)
    }

    /// Handles an output that failed: retries a little later, from the heard position.
    private func interrupted(_ reason: String) {
        if !isAnnouncing, ending != nil || intent != .playing { return interruptedAtRest(reason) }
        if let ending {
            pipeline.restart(with: nil)
            stopped(ending)
        }
        if outage == nil {
            interruptions += 1
            note(path: nil, reason)
            logger.error("The output stalled: \(reason); retrying")
        }
        var outage = outage ?? Outage(reason: reason)
        outage.reason = reason
        outage.attempts += 1
        let delay = outage.delay
        outage.delay = min(outage.delay * 2, Self.longestRetry)
        self.outage = outage
        pipeline.setOpening(allowed: false, reach: .live)
        if intent != .stopped, let current = list.current {
            start(current, at: elapsed ?? 0)
        } else {
            pipeline.restart(with: nil)
        }
        resumeAnnouncement()
        jumped()
        let clock = clock
        Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            tryAgain()
        }
    }

    /// Handles an output that failed while nothing plays: keeps the position; playing opens the device again.
    private func interruptedAtRest(_ reason: String) {
        if let ending {
            pipeline.restart(with: nil)
            stopped(ending)
        } else if intent == .paused, let current = list.current {
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

    private func tryAgain() {
        guard let outage else { return allowOpening() }
        let stuck = pipeline.snapshot().stuckThreads
        let reach: DeviceReach =
            if hadSound {
                .live
            } else if stuck >= Self.stuckThreadsBeforeFallback {
                .fallback
            } else if outage.attempts >= Self.attemptsBeforeFallback {
                .any
            } else {
                .live
            }
        pipeline.setOpening(allowed: true, reach: reach)
        startThreadsIfNeeded()
    }

    /// Allows opening devices again: only audible ones if there was sound before. While a thread hangs in a server that
    /// never made sound, that server is not tried again.
    func allowOpening() {
        let reach: DeviceReach = hadSound ? .live : pipeline.snapshot().stuckThreads > 0 ? .fallback : .any
        pipeline.setOpening(allowed: true, reach: reach)
    }

    // MARK: Detecting hangs

    /// Whether the output may block forever now. The paced device never does.
    private func mayHang(_ snapshot: PipelineSnapshot) -> Bool {
        let plays = intent == .playing && !isSuspended && snapshot.device?.kind != .paced
        return (plays || ending != nil || isAnnouncing || snapshot.busySince != nil) && !isShuttingDown
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
        let age = monotonicNow() - busySince
        guard age >= limit - 1_000_000 else { return .nanoseconds(limit - age) }
        await abandonOutput()
        return Self.stallLimit
    }

    private func abandonOutput() async {
        settle()
        outputNumber = pipeline.abandonOutput()
        hasOutputThread = false
        if !isAnnouncing, ending != nil || intent != .playing {
            logger.error("The audio output does not close; abandoning it")
            if let ending { stopped(ending) }
        } else {
            interrupted("\(lastDevice?.driver ?? configuration.driver.shortName): the sound server does not answer")
        }
        await commit()
    }
}
