import BackgrounderAPI
import Logging

/// From the moment that a device was lost, hung or would not open, until it takes samples again.
struct Outage {
    var reason: String
    var attempts = 0
    var delay = Duration.milliseconds(250)
}

/// Keeping the sound on: what hangs is left behind, what was lost is opened again, from the position that was heard.
extension QueuePlayer {
    // judgement: all of these
    private static var stallLimit: Duration { .seconds(3) }
    private static var longestRetry: Duration { .seconds(4) }
    /// Attempts to get a lost device back before `auto` goes on in silence.
    private static var attemptsBeforeFallback: Int { 4 }
    private static var mostStuckThreads: Int { 4 }
    private static var stuckThreadsBeforeFallback: Int { 2 }

    /// Where the system has no thread to give, it is an output that does not open: said, and tried again later.
    func startThreadsIfNeeded() {
        startKeeperIfNeeded()
        if !hasDecoderThread { hasDecoderThread = DecoderThread.start(pipeline) }
        if !hasOutputThread, pipeline.snapshot().stuckThreads < Self.mostStuckThreads {
            hasOutputThread = OutputThread.start(outputNumber, pipeline, opener)
            if !hasOutputThread { pipeline.refuseOpening(reason: "the system has no thread for the output") }
        }
        if !hasDecoderThread { pipeline.refuseOpening(reason: "the system has no thread for the decoder") }
    }

    /// Takes in what the device did.
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

    /// The output is of no use now: it begins again, a little later, where the listener was.
    private func interrupted(_ reason: String) {
        if !isAnnouncing, ending != nil || intent != .playing { return interruptedAtRest(reason) }
        if let ending {
            pipeline.restart(with: nil)
            stopped(ending)
        }
        if outage == nil {
            interruptions += 1
            note(path: nil, reason)
            logger.error("The output stalled: \(reason); trying again")
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

    /// Nobody listens: the place in the item is kept, and the device is opened when somebody plays again.
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

    /// Another file would fill the same disk: this is the end, until somebody plays again.
    private func fileFailed(_ path: String, _ code: CInt) {
        let reason = code == 0 ? "cannot be written" : systemMessage(code)
        note(path: path, reason)
        logger.error("\(printable(path)): \(reason); stopped")
        dropAnnouncements(because: "its output cannot be written")
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

    /// Back to normal: any device may be opened, one that makes sound where there was one before; but while a server that
    /// never made any holds a thread of ours it is not asked again.
    func allowOpening() {
        let reach: DeviceReach = hadSound ? .live : pipeline.snapshot().stuckThreads > 0 ? .fallback : .any
        pipeline.setOpening(allowed: true, reach: reach)
    }

    // MARK: What hangs

    /// Whether the output is asked for something that can take for ever; the paced device waits for time alone.
    private func mayHang(_ snapshot: PipelineSnapshot) -> Bool {
        let plays = intent == .playing && !isSuspended && snapshot.device?.kind != .paced
        return (plays || ending != nil || isAnnouncing || snapshot.busySince != nil) && !isShuttingDown
    }

    /// Watches the output thread, from the start of playing until nothing that may hang is asked of it any more.
    func watchOutput() {
        guard watchdog == nil else { return }
        let clock = clock
        watchdog = Task {
            var pause = Self.stallLimit
            while (try? await clock.sleep(for: pause)) != nil, let next = await self.checkOutput() { pause = next }
        }
    }

    /// How long to wait for the next look, `nil` when there is nothing to look at.
    private func checkOutput() async -> Duration? {
        guard mayHang(pipeline.snapshot()) else {
            watchdog = nil
            return nil
        }
        let announcementLeft = await checkAnnouncement(limit: Self.stallLimit)
        // Anew: what was written meanwhile may have taken longer than the limit.
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
            logger.error("The output stalled while it was being closed; it is left to itself")
            if let ending { stopped(ending) }
        } else {
            interrupted("\(lastDevice?.driver ?? configuration.driver.shortName): the sound server does not answer")
        }
        await commit()
    }
}
