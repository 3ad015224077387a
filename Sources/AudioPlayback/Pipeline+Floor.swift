/// How the output thread handles announcements, inside the lock.
extension Pipeline {
    /// Decides who is heard next. Also detects announcements that ended, and those whose samples do not arrive.
    func floor(_ state: inout PipelineState, _ device: OpenDevice?) -> Floor {
        if let current = state.announcements.current, current.isPrimed {
            if current.ring?.count ?? 0 > 0 { return .announcement }
            if current.isDecoded {
                endAnnouncement(&state)
            } else {
                state.announcements.current?.isPrimed = false
                state.announcements.current?.starvedSince = monotonicNow()
                if let device, device.kind != .file { state.underruns += 1 }
            }
        }
        // A file has no clock: announcement and music wait for each other.
        let isAwaited = device?.kind == .file && state.announcements.current?.hasBegun == true
        return isAwaited || state.announcements.beneath == .held ? .nobody : .music
    }

    /// Delivers the announcement's next step, with the ducked music mixed in.
    func giveAnnouncement(
        _ state: inout PipelineState,
        _ device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard let current = state.announcements.current, let ring = current.ring else { return .wait() }
        guard let device else {
            state.announcements.ownsDevice = !state.isPlaying
            return .done(.open(ring.format, state.reach))
        }
        guard ring.format == device.format else {
            decodeAgain(&state, current)
            return .wait()
        }
        if !current.hasBegun {
            state.announcements.current?.hasBegun = true
            state.announcements.begun = current.job.token
            state.announcements.hold = nil
            reports.send()
        }
        let hasMusic = current.job.music != .held && state.isPlaying && state.ring?.format == device.format
        let isMixed = hasMusic && isReady(&state, device)
        if hasMusic, !isMixed, device.kind == .file, !state.isDrained { return .wait() }
        var frames = min(stepFrames(device.kind, rate: device.format.rate), ring.count)
        if isMixed { frames = min(frames, framesOfItem(state)) }
        let contents = StepContents(music: isMixed, announcement: current.job.token)
        if device.kind == .paced { return pace(&state, contents, frames: frames, rate: device.format.rate) }
        guard let samples else { return .wait() }
        if isMixed {
            // Replay gain applies to the music only, not to the announcement.
            let gain = gain(state, on: fullLevel)
            takeMusic(&state, frames: frames, into: samples)
            scale(samples, count: frames * ring.format.channels, by: gain)
            ring.mix(frames, into: samples)
        } else {
            state.announcements.level = current.job.music.level
            ring.take(frames, into: samples)
        }
        state.giving = contents
        announcementGiven(&state)
        return .done(.play(frames: frames, gain: state.gain))
    }

    /// Takes music out of its ring, at the current level.
    func takeMusic(_ state: inout PipelineState, frames: Int, into samples: UnsafeMutablePointer<Int16>) {
        guard let ring = state.ring else { return }
        ring.take(frames, into: samples)
        let target = state.announcements.beneath?.level ?? fullLevel
        if state.announcements.level != fullLevel || target != fullLevel {
            applyLevel(
                &state.announcements.level,
                target: target,
                slope: levelSlope(rate: ring.format.rate),
                to: samples,
                frames: frames,
                channels: ring.format.channels
            )
        }
        state.announcements.ownsDevice = false
        wakeDecoder(state)
    }

    /// Called when samples were taken out of the announcement's ring: asks for more, or ends the announcement.
    func announcementGiven(_ state: inout PipelineState) {
        guard let current = state.announcements.current, let ring = current.ring else { return }
        if ring.count == 0, current.isDecoded {
            endAnnouncement(&state)
        } else if ring.free >= ring.capacity / 2 {
            monitor.signal(.announcer)
        }
    }

    private func endAnnouncement(_ state: inout PipelineState) {
        guard let current = state.announcements.current else { return }
        state.announcements.ended = current.job.token
        state.announcements.spent = current
        // The next one starts immediately, with no music in between.
        let hold = state.announcements.isFollowed ? current.job.music : nil
        removeAnnouncement(&state)
        state.announcements.hold = hold
        // The time of the music runs again; report that soon.
        state.isProgressTold = false
        reports.send()
    }

    func removeAnnouncement(_ state: inout PipelineState) {
        if !state.announcements.isFollowed { state.announcements.hold = nil }
        state.announcements.current = nil
        // Ducked music returns with a ramp; held music starts at its full level.
        if !state.isPlaying || !state.giving.music { state.announcements.level = fullLevel }
        monitor.signal(.announcer)
        monitor.signal(.output)
    }

    /// Decodes the announcement again, because the device was opened in another format meanwhile.
    private func decodeAgain(_ state: inout PipelineState, _ current: PlayingAnnouncement) {
        var again = PlayingAnnouncement(job: current.job)
        again.job.start = current.elapsed(at: monotonicNow())
        again.starvedSince = monotonicNow()
        state.announcements.spent = current
        state.announcements.current = again
        monitor.signal(.announcer)
        // The player starts a thread for it.
        reports.send()
    }
}
