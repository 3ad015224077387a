import MediaFiles
import SystemSupport

/// The output's next step. Runs on the output thread with the lock held, so it neither allocates nor logs.
extension PipelineState {
    /// The sound that is heard.
    private enum Floor {
        case music
        case announcement
        /// Neither: the music is held, and the announcement has no samples yet.
        case nobody
    }

    /// Tuned: decoded before playing starts, so that the disk may stall for a second right afterwards. Takes the decoder a
    /// few milliseconds.
    private static func primingFrames(rate: Int) -> Int { rate * 2 }

    /// Returns the next order for the thread. `samples` has room for one step in the format of `device`.
    mutating func nextOrder(
        thread: Int,
        device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        let step = step(thread: thread, device: device, into: samples)
        if case .done(let order) = step { output.begin(order, now: MonotonicTime.now.nanoseconds) }
        return step
    }

    private mutating func step(
        thread: Int,
        device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard threads.isCurrent(thread, .output) else { return .done(.retire) }
        endPacedStep()
        let floor = floor(device)
        let isHeld = announcements.holdsDevice
        if let device {
            if let silence = closing(device, isHeld: isHeld) { return .done(.close(silence: silence)) }
            if !output.isPlaying, !isHeld { return .wait() }
        } else {
            if isShutDown { return .done(.retire) }
            if output.isCloseRequested {
                output.closed()
                reports.send()
            }
            if !output.isPlaying && !isHeld || output.reach == nil || output.failure != nil { return .wait() }
        }
        switch floor {
        case .nobody: return .wait()
        case .announcement: return announcementStep(device, into: samples)
        // Music of another format waits until the announcement over it has ended.
        case .music where !output.isPlaying || isHeld && device != nil && device?.format != music.format: return .wait()
        case .music: return musicStep(device, into: samples)
        }
    }

    /// Returns the frames of silence before closing the device; nil if it is to stay open.
    private func closing(_ device: OpenDevice, isHeld: Bool) -> Int? {
        let silence = silence(device)
        if isShutDown { return silence }
        if isHeld { return nil }
        if output.isCloseRequested { return silence }
        if !output.isPlaying { return device.kind == .file && !announcements.ownsDevice ? nil : silence }
        if let format = music.format, format != device.format, music.count > 0 { return silence }
        let leaves = device.isFallback && output.leavesFallback && output.pacedStep == nil
        return leaves && music.isAtItem ? 0 : nil
    }

    private func silence(_ device: OpenDevice) -> Int {
        guard device.kind == .live, output.handed.total > 0 else { return 0 }
        return max(0, device.format.frames(latency * 1.25) - output.handed.total)
    }

    // MARK: Music

    private mutating func musicStep(
        _ device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard isMusicReady(), let format = music.format else { return .wait() }
        guard let device else { return output.reach.map { .done(.open(format, $0)) } ?? .wait() }
        let frames = min(device.kind.stepFrames(rate: format.rate, latency: latency), music.framesOfItem)
        let contents = StepContents(music: true)
        if device.kind == .paced { return pace(contents, frames: frames, rate: format.rate) }
        guard let samples else { return .wait() }
        let gain = music.gain(output.replayGain, on: output.gain)
        takeMusic(frames, into: samples)
        output.give(contents)
        return .done(.play(frames: frames, gain: gain))
    }

    /// Whether enough samples are there to play. Also detects underruns and the end.
    private mutating func isMusicReady() -> Bool {
        let count = music.count
        if count == 0, decoder.isAtEnd {
            if output.drain() { reports.send() }
            return false
        }
        let isRest = music.wantsDrain || decoder.isAtEnd
        let enough = isRest ? 1 : Self.primingFrames(rate: music.format?.rate ?? 1)
        let wasStarved = output.isStarved
        if output.prepare(count: count, enough: enough, wantsDrain: music.wantsDrain) { return true }
        // The player shows that it waits for the network.
        if !wasStarved, decoder.hasStream { reports.send() }
        wakeDecoder()
        return false
    }

    /// Takes music out of its ring, at the current level.
    private mutating func takeMusic(_ frames: Int, into samples: UnsafeMutablePointer<Int16>) {
        guard let ring = music.ring else { return }
        ring.take(frames, into: samples)
        announcements.applyMusicLevel(to: samples, frames: frames, of: ring.format)
        announcements.releaseDevice()
        wakeDecoder()
    }

    // MARK: Announcements

    /// Decides who is heard next. Also detects announcements that ended, and those whose samples do not arrive.
    private mutating func floor(_ device: OpenDevice?) -> Floor {
        if let current = announcements.current, current.isReady {
            if current.ring?.count ?? 0 > 0 { return .announcement }
            if current.isComplete {
                endAnnouncement()
            } else {
                announcements.starve(at: MonotonicTime.now.nanoseconds)
                output.announcementStarved()
            }
        }
        // A file has no clock: announcement and music wait for each other.
        let isAwaited = device?.kind == .file && announcements.current?.hasBegun == true
        return isAwaited || announcements.beneath == .held ? .nobody : .music
    }

    /// Delivers the announcement's next step, with the ducked music mixed in.
    private mutating func announcementStep(
        _ device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard let current = announcements.current, let ring = current.ring else { return .wait() }
        guard let device else {
            announcements.openDevice(isOwn: !output.isPlaying)
            return output.reach.map { .done(.open(ring.format, $0)) } ?? .wait()
        }
        guard ring.format == device.format else {
            decodeAnnouncementAgain()
            return .wait()
        }
        if announcements.begin() { reports.send() }
        let hasMusic = current.job.music != .held && output.isPlaying && music.format == device.format
        let isMixed = hasMusic && isMusicReady()
        if hasMusic, !isMixed, device.kind == .file, !output.isDrained { return .wait() }
        var frames = min(device.kind.stepFrames(rate: device.format.rate, latency: latency), ring.count)
        if isMixed { frames = min(frames, music.framesOfItem) }
        let contents = StepContents(music: isMixed, announcement: current.job.token)
        if device.kind == .paced { return pace(contents, frames: frames, rate: device.format.rate) }
        guard let samples else { return .wait() }
        if isMixed {
            // Replay gain applies to the music only, not to the announcement.
            let gain = music.gain(output.replayGain, on: fullLevel)
            takeMusic(frames, into: samples)
            scale(samples, count: frames * ring.format.channels, by: gain)
            ring.mix(frames, into: samples)
        } else {
            announcements.noteSilentMusic()
            ring.take(frames, into: samples)
        }
        output.give(contents)
        announcementTaken()
        return .done(.play(frames: frames, gain: output.gain))
    }

    /// Called when samples were taken out of the announcement's ring: asks for more, or ends the announcement.
    private mutating func announcementTaken() {
        guard let current = announcements.current, let ring = current.ring else { return }
        if current.isAtEnd {
            endAnnouncement()
        } else if ring.isHalfFree {
            rooms.wake(.announcer)
        }
    }

    private mutating func endAnnouncement() {
        announcements.end()
        announcementRemoved()
        output.progressChanged()
        reports.send()
    }

    /// Decodes the announcement again, because the device was opened in another format meanwhile.
    private mutating func decodeAnnouncementAgain() {
        announcements.decodeAgain(at: MonotonicTime.now.nanoseconds)
        rooms.wake(.announcer)
        // The player starts a thread for it.
        reports.send()
    }

    // MARK: The paced device

    private mutating func pace(_ contents: StepContents, frames: Int, rate: Int) -> WaitStep<OutputOrder> {
        if let step = output.pacedStep { return .wait(until: step.end) }
        let now = MonotonicTime.now.nanoseconds
        let step = output.beginPacedStep(contents, frames: frames, rate: rate, now: now)
        if contents.music { music.pace(frames, rate: rate, start: step.since) }
        if contents.announcement != nil { announcements.pace(frames, rate: rate, start: step.since) }
        reportProgress(now: now)
        return .wait(until: step.end)
    }

    /// Removes what has been heard: the whole step at its end, or a part of it on an interruption.
    mutating func endPacedStep(isInterrupted: Bool = false) {
        guard let step = output.pacedStep else { return }
        let now = MonotonicTime.now.nanoseconds
        guard now >= step.end || isInterrupted || interrupts(step) else { return }
        let frames = output.endPacedStep(now: now)
        if step.contents.music {
            announcements.releaseDevice()
            music.skip(frames, rate: step.rate, now: now)
            wakeDecoder()
        }
        if isOfCurrent(step) {
            announcements.skip(frames, rate: step.rate, now: now)
            announcementTaken()
        }
        reportProgress(now: now)
    }

    private func interrupts(_ step: PacedStep) -> Bool {
        if isShutDown || output.device?.kind != .paced { return true }
        if step.contents.music, !output.isPlaying { return true }
        if step.contents.announcement != nil { return !isOfCurrent(step) }
        return output.isCloseRequested || announcements.current?.isReady == true
    }

    /// Whether the current announcement is in the step.
    private func isOfCurrent(_ step: PacedStep) -> Bool {
        guard let current = announcements.current, let token = step.contents.announcement else { return false }
        return current.job.token == token && current.hasBegun
    }
}
