/// The paced device: it takes samples out of the rings as time passes, so it never holds any.
extension Pipeline {
    func pace(
        _ state: inout PipelineState,
        _ contents: StepContents,
        frames: Int,
        rate: Int
    ) -> WaitStep<OutputOrder> {
        if let pacing = state.pacing { return .wait(until: pacing.end) }
        let now = monotonicNow()
        // Follows the previous step directly, so that delays do not add up; not after a pause or a suspended machine.
        let start = now - state.pacedUntil < 250_000_000 ? state.pacedUntil : now
        let pacing = Pacing(contents: contents, frames: frames, rate: rate, since: start)
        state.pacing = pacing
        if contents.music {
            let read = state.ring?.read ?? 0
            state.meter.run(from: read, to: read + frames, rate: rate, now: start)
        }
        if contents.announcement != nil {
            let read = state.announcements.current?.ring?.read ?? 0
            state.announcements.current?.meter.run(from: read, to: read + frames, rate: rate, now: start)
        }
        reportProgress(&state, now)
        return .wait(until: pacing.end)
    }

    /// Removes what has been heard: the whole step at its end, or a part of it on an interruption.
    func settlePacing(_ state: inout PipelineState, isInterrupted: Bool = false) {
        guard let pacing = state.pacing else { return }
        let now = monotonicNow()
        guard now >= pacing.end || isInterrupted || isInterrupting(state, pacing) else { return }
        let passed = Int(Double(max(0, now - pacing.since)) * Double(pacing.rate) / 1e9)
        let frames = min(pacing.frames, passed)
        state.givenSinceOpen += frames
        state.pacing = nil
        state.pacedUntil = min(pacing.end, now)
        if pacing.contents.music {
            state.announcements.ownsDevice = false
            state.ring?.skip(frames)
            let read = state.ring?.read ?? 0
            state.meter.run(from: read, to: read, rate: pacing.rate, now: now)
            wakeDecoder(state)
        }
        if let ring = state.announcements.current?.ring, isOf(state, pacing) {
            ring.skip(frames)
            state.announcements.current?.meter.run(from: ring.read, to: ring.read, rate: pacing.rate, now: now)
            announcementGiven(&state)
        }
        reportProgress(&state, now)
    }

    private func isInterrupting(_ state: PipelineState, _ pacing: Pacing) -> Bool {
        if state.isShutDown || state.device?.kind != .paced { return true }
        if pacing.contents.music, !state.isPlaying { return true }
        if pacing.contents.announcement != nil { return !isOf(state, pacing) }
        return state.closeRequested || state.announcements.current?.isPrimed == true
    }

    private func isOf(_ state: PipelineState, _ pacing: Pacing) -> Bool {
        guard let current = state.announcements.current, let token = pacing.contents.announcement else { return false }
        return current.job.token == token && current.hasBegun
    }
}
