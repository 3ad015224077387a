/// What the output thread does next.
enum OutputOrder {
    case open(AudioFormat, DeviceReach)
    /// Frames that lie in the thread's own memory, to be scaled and given to the device.
    case play(frames: Int, gain: Int32)
    /// Gives silence first, so that a device that has not yet begun to play is heard.
    case close(silence: Int)
    /// Somebody else has taken over, or all is over.
    case retire
}

/// What the output thread calls. `thread` is the number it was started with: an abandoned one only hears `retire`.
extension Pipeline {
    /// judgement: frames of a step, as parts of a second. Live: pause and seek wait for a step at most. Paced: few
    /// wakeups, yet the position is saved each half second. File: large, as it runs as fast as it can.
    static func stepFrames(_ kind: OpenDevice.Kind, rate: Int) -> Int { kind == .live ? rate / 10 : rate / 2 }
    /// judgement: decoded ahead before a start; the decoder needs a few milliseconds for it.
    private static func primingFrames(rate: Int) -> Int { rate / 2 }

    func nextOrder(thread: Int, device: OpenDevice?, into samples: UnsafeMutablePointer<Int16>?) -> OutputOrder {
        monitor.wait(in: .output) { state in
            let step = self.step(&state, thread: thread, device: device, into: samples)
            if case .done(let order) = step {
                state.isStarved = false
                switch order {
                case .open: state.busy = (.opening, monotonicNow())
                case .play: state.busy = (.playing, monotonicNow())
                case .close: state.busy = (.closing, monotonicNow())
                case .retire: break
                }
            }
            return step
        }
    }

    private func step(
        _ state: inout PipelineState,
        thread: Int,
        device: OpenDevice?,
        into samples: UnsafeMutablePointer<Int16>?
    ) -> WaitStep<OutputOrder> {
        guard thread == state.owner else { return .done(.retire) }
        settlePacing(&state)
        if let device {
            let silence = silence(state, device)
            if state.isShutDown || state.closeRequested { return .done(.close(silence: silence)) }
            if !state.isPlaying { return device.kind == .file ? .wait() : .done(.close(silence: silence)) }
            if let format = state.ring?.format, format != device.format, state.ring?.count ?? 0 > 0 {
                return .done(.close(silence: silence))
            }
            if device.isFallback, state.leaveFallback, state.pacing == nil, isAtItem(state) {
                return .done(.close(silence: 0))
            }
        } else {
            if state.isShutDown { return .done(.retire) }
            if state.closeRequested {
                state.closeRequested = false
                state.isClosed = true
                reports.send()
            }
            if !state.isPlaying || !state.mayOpen || state.failure != nil { return .wait() }
        }
        guard isReady(&state, device), let rate = state.ring?.format.rate else { return .wait() }
        guard let device else {
            guard let format = state.ring?.format else { return .wait() }
            return .done(.open(format, state.reach))
        }
        let frames = min(Self.stepFrames(device.kind, rate: rate), framesOfItem(state))
        if device.kind == .paced { return pace(&state, frames: frames, rate: rate) }
        guard let samples else { return .wait() }
        state.ring?.take(frames, into: samples)
        wakeDecoder(state)
        return .done(.play(frames: frames, gain: state.gain))
    }

    /// Whether there is something to play, and enough of it to begin; notices underruns and the end.
    private func isReady(_ state: inout PipelineState, _ device: OpenDevice?) -> Bool {
        let count = state.ring?.count ?? 0
        let nothingComes = state.upcoming == nil && state.decoding == nil
        if count == 0, nothingComes, state.isLast {
            state.isPrimed = false
            if !state.isDrained {
                state.isDrained = true
                reports.send()
            }
            return false
        }
        if !state.isPrimed {
            let enough = Self.primingFrames(rate: state.ring?.format.rate ?? 1)
            state.isPrimed = count >= enough || (count > 0 && (state.wantsDrain || (nothingComes && state.isLast)))
        } else if count == 0 {
            if let device, device.kind != .file, !state.wantsDrain, state.givenSinceOpen > 0 { state.underruns += 1 }
            state.isPrimed = false
        }
        if !state.isPrimed || count == 0 {
            state.isStarved = true
            wakeDecoder(state)
            return false
        }
        return true
    }

    func opened(thread: Int, _ device: OpenDevice) -> Bool {
        settle(thread: thread) { state in
            state.device = device
            state.givenSinceOpen = 0
            state.leaveFallback = false
            state.pacedUntil = 0
        }
    }

    func notOpened(thread: Int, reason: String) -> Bool {
        settle(thread: thread) { $0.failure = .notOpened(reason: reason) }
    }

    /// The device has taken `frames`. False when the thread has been abandoned meanwhile.
    func played(thread: Int, frames: Int, buffer: Int, rate: Int) -> Bool {
        monitor.withLock { state in
            guard state.owner == thread else { return false }
            state.busy = nil
            state.givenSinceOpen += frames
            let given = state.ring?.read ?? 0
            let now = monotonicNow()
            state.meter.run(from: given - min(buffer, state.givenSinceOpen), to: given, rate: rate, now: now)
            reportProgress(&state, now)
            return true
        }
    }

    /// The device took nothing: the thread closes it next.
    func lost(thread: Int, code: CInt) -> Bool {
        settle(thread: thread) { state in
            state.failure = .lost(state.device, code)
            // Gone before it is closed: what it took before it was lost does not mean that it is back.
            state.device = nil
            state.givenSinceOpen = 0
            state.busy = (.closing, monotonicNow())
            state.meter = PositionMeter(at: state.meter.heard(at: monotonicNow()))
        }
    }

    func closed(thread: Int) -> Bool {
        settle(thread: thread) { state in
            state.device = nil
            state.pacing = nil
            let given = state.ring?.read ?? 0
            // A close gives all that was held to the listener; after a loss the position is what was heard till then.
            if state.failure == nil { state.meter = PositionMeter(at: given) }
            if state.closeRequested {
                state.closeRequested = false
                state.isClosed = true
            }
        }
    }

    /// An abandoned thread has come back and is about to end.
    func retired(thread: Int) {
        monitor.withLock { state in
            if state.owner != thread {
                state.stuckThreads -= 1
            } else {
                state.isClosed = true
            }
        }
        reports.send()
    }

    private func settle(thread: Int, _ body: (inout PipelineState) -> Void) -> Bool {
        defer { reports.send() }
        return monitor.withLock { state in
            guard state.owner == thread else { return false }
            state.busy = nil
            body(&state)
            return true
        }
    }

    // MARK: Inside the lock

    private func wakeDecoder(_ state: PipelineState) {
        guard let free = state.ring?.free, let capacity = state.ring?.capacity else { return }
        if free >= capacity / 2 || state.wantsDrain { monitor.signal(.decoder) }
    }

    private func reportProgress(_ state: inout PipelineState, _ now: Int64) {
        let crossed = state.marks.count > 1 && state.marks[1].frame <= state.meter.heard(at: now)
        // judgement: as often as the position is saved
        guard crossed || now - state.lastReport >= 500_000_000 else { return }
        state.lastReport = now
        reports.send()
    }

    /// Frames that are left before the next item begins.
    private func framesOfItem(_ state: PipelineState) -> Int {
        let read = state.ring?.read ?? 0
        let end = state.marks.first { $0.frame > read }?.frame ?? .max
        return min(state.ring?.count ?? 0, end - read)
    }

    private func isAtItem(_ state: PipelineState) -> Bool {
        guard let read = state.ring?.read else { return false }
        return state.marks.contains { $0.frame == read }
    }

    private func silence(_ state: PipelineState, _ device: OpenDevice) -> Int {
        guard device.kind == .live, state.givenSinceOpen > 0 else { return 0 }
        return max(0, device.format.frames(state.latency * 1.25) - state.givenSinceOpen)
    }
}

/// The paced device: samples are taken out of the ring as their time passes, so nothing is ever held.
extension Pipeline {
    private func pace(
        _ state: inout PipelineState,
        frames: Int,
        rate: Int
    ) -> WaitStep<OutputOrder> {
        let now = monotonicNow()
        if state.pacing == nil {
            // Right behind the step before it, so that lateness does not add up; not after a pause or a suspended machine.
            let start = now - state.pacedUntil < 250_000_000 ? state.pacedUntil : now
            state.pacing = (frames, start)
            let read = state.ring?.read ?? 0
            state.meter.run(from: read, to: read + frames, rate: rate, now: start)
        }
        guard let pacing = state.pacing else { return .wait() }
        return .wait(until: pacing.since + Int64(Double(pacing.frames) * 1e9 / Double(rate)))
    }

    /// Takes out what has been heard: a whole step at its end, a part of it when something interrupts.
    private func settlePacing(_ state: inout PipelineState) {
        guard let pacing = state.pacing, let rate = state.ring?.format.rate else { return }
        let now = monotonicNow()
        let end = pacing.since + Int64(Double(pacing.frames) * 1e9 / Double(rate))
        let isInterrupted =
            !state.isPlaying || state.closeRequested || state.isShutDown || state.device?.kind != .paced
        guard now >= end || isInterrupted else { return }
        let passed = Int(Double(max(0, now - pacing.since)) * Double(rate) / 1e9)
        let frames = min(pacing.frames, passed)
        state.ring?.skip(frames)
        state.givenSinceOpen += frames
        state.pacing = nil
        state.pacedUntil = min(end, now)
        let read = state.ring?.read ?? 0
        state.meter.run(from: read, to: read, rate: rate, now: now)
        wakeDecoder(state)
        reportProgress(&state, now)
    }
}
