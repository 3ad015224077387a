package import BackgrounderAPI
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
    private static var longestProbe: Duration { .seconds(30) }
    /// Attempts to get a lost device back before `auto` goes on in silence.
    private static var attemptsBeforeFallback: Int { 4 }
    private static var mostStuckThreads: Int { 4 }
    private static var stuckThreadsBeforeFallback: Int { 2 }

    func startOutputIfNeeded() {
        guard !hasOutputThread, pipeline.snapshot().stuckThreads < Self.mostStuckThreads else { return }
        hasOutputThread = true
        OutputThread.start(outputNumber, pipeline, opener)
    }

    /// Takes in what the device did.
    func settleOutput(_ snapshot: PipelineSnapshot) {
        if let device = snapshot.device, device != lastDevice {
            lastDevice = device
            unsentEvents.append(.changed)
            if device.isFallback { logger.warning("Playing in silence: \(device.description)") }
        }
        if let failure = snapshot.failure {
            switch failure {
            case .lost: interrupted(lastDevice.map { "\($0.driver): the device was lost" } ?? "the device was lost")
            case .notOpened(let reason): interrupted(reason)
            }
        } else if outage != nil, snapshot.hasPlayed, let device = snapshot.device {
            logger.notice("The output is back: \(device.driver), \(device.description)")
            outage = nil
            allowOpening()
            unsentEvents.append(.changed)
        }
        if intent == .playing, outage != nil { startOutputIfNeeded() }
        probeForDevice(snapshot)
    }

    /// The output is of no use now: it begins again, a little later, where the listener was.
    private func interrupted(_ reason: String) {
        if ending != nil || intent != .playing {
            pipeline.restart(with: nil)
            if let ending { stopped(ending) }
            return
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
        if let current = list.current { start(current, at: elapsed ?? 0) }
        jumped()
        let clock = clock
        Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            tryAgain()
        }
    }

    private func tryAgain() {
        guard let outage else { return allowOpening() }
        let stuck = pipeline.snapshot().stuckThreads
        let reach: DeviceReach =
            if stuck >= Self.stuckThreadsBeforeFallback {
                .fallback
            } else if outage.attempts >= Self.attemptsBeforeFallback {
                .any
            } else {
                .live
            }
        startOutputIfNeeded()
        pipeline.setOpening(allowed: true, reach: reach)
    }

    /// Back to normal: any device may be opened; but while the server holds a thread of ours it is not asked again.
    func allowOpening() {
        pipeline.setOpening(allowed: true, reach: pipeline.snapshot().stuckThreads > 0 ? .fallback : .any)
    }

    // MARK: What hangs

    /// Watches the output thread, from the start of playing until nothing is asked of it any more.
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
        let snapshot = pipeline.snapshot()
        let isNeeded = intent == .playing && !isSuspended || ending != nil || snapshot.busySince != nil
        guard isNeeded, !isShuttingDown else {
            watchdog = nil
            return nil
        }
        guard let busySince = snapshot.busySince else { return Self.stallLimit }
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
        if ending != nil || intent != .playing {
            logger.error("The output stalled while it was being closed; it is left to itself")
            if let ending { stopped(ending) }
        } else {
            interrupted("\(lastDevice?.driver ?? configuration.driver.shortName): the sound server does not answer")
        }
        await commit()
    }

    // MARK: A better device

    /// While `auto` plays in silence it looks for a device now and then, and moves over where the next item begins.
    private func probeForDevice(_ snapshot: PipelineSnapshot) {
        guard snapshot.device?.isFallback == true, intent == .playing else {
            probe?.cancel()
            probe = nil
            probeDelay = .zero
            return
        }
        // A thread that the server holds comes back when the server does, so there is no need to ask it.
        guard probe == nil, snapshot.stuckThreads == 0, let format = snapshot.device?.format else { return }
        probeDelay = min(max(probeDelay * 2, .seconds(1)), Self.longestProbe)
        let delay = probeDelay
        let clock = clock
        let opener = opener
        probe = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            let isThere = await Self.canOpen(opener, format)
            if !Task.isCancelled { probed(isThere) }
        }
    }

    private func probed(_ isThere: Bool) {
        if isThere {
            // The task stays, so that nobody asks again before the move.
            logger.notice("A sound device is there; the next item is played on it")
            allowOpening()
            pipeline.leaveFallback()
        } else {
            probe = nil
            probeForDevice(pipeline.snapshot())
        }
    }

    /// Really opens a device, on a thread of its own since it may hang, and closes it again.
    private static func canOpen(_ opener: DeviceOpener, _ format: AudioFormat) async -> Bool {
        await withCheckedContinuation { continuation in
            startThread {
                let opened = try? opener.open(format, .live)
                opened?.output?.close()
                continuation.resume(returning: opened != nil)
            }
        }
    }

    /// The drivers that there are, each with whether it can be opened now. Takes 150 ms at most: a driver that has not
    /// opened by then is not available.
    package func drivers() async -> [AudioDriver] {
        let names = AudioLibrary.liveDrivers
        let answers = DriverAnswers(names)
        if let format = try? AudioFormat(rate: 44_100, channels: 2), pipeline.snapshot().stuckThreads == 0 {
            for name in names {
                startThread {
                    let output = try? AudioOutput(.live(driver: name), format: format)
                    answers.note(name, output != nil)
                    output?.close()
                }
            }
            let clock = clock
            let timeout = Task {
                try? await clock.sleep(for: .milliseconds(150))
                answers.finish()
            }
            await answers.wait()
            timeout.cancel()
        }
        let available = answers.available
        return names.map { AudioDriver(name: $0, live: true, available: available.contains($0)) } + [
            AudioDriver(name: "null", live: true, available: true),
            AudioDriver(name: "wav", live: false, available: true),
            AudioDriver(name: "raw", live: false, available: true),
        ]
    }
}
