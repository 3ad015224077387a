import BackgrounderAPI

/// The output: the player's order, the device, and the frames that the device was handed.
struct OutputState {
    /// A close that the player requested.
    private enum Closing { case notRequested, requested, done }

    /// Whether the samples in the ring suffice to play.
    private enum Readiness {
        /// Too little has been decoded since the last start. `isAwaited`: the output waits for more.
        case filling(isAwaited: Bool)
        case ready
        /// Everything that was asked for has been handed to the device.
        case drained
    }

    // Set by the player
    private(set) var isPlaying = false
    private var closing = Closing.notRequested
    /// The devices that may be opened; nil while the player backs off before the next attempt.
    private(set) var reach: DeviceReach? = .any
    /// A better device was found: leave the fallback when the next item begins.
    private(set) var leavesFallback = false
    /// The volume as a factor in parts of 65,536.
    private(set) var gain: Int32
    /// The replay gain to apply; never `auto`.
    private(set) var replayGain = ReplayGainMode.off

    // Set by the output
    private(set) var device: OpenDevice?
    private(set) var failure: OutputFailure?
    /// When the thread entered libao; nil outside of it.
    private(set) var busySince: Int64?
    private var readiness = Readiness.filling(isAwaited: false)
    /// The contents of the step that is being handed to the device.
    private(set) var giving = StepContents(music: true)
    private(set) var handed = HandedFrames()
    private var pacing = Pacing()
    /// The player has been told that the sound runs.
    private var isProgressTold = false
    private(set) var underruns = 0
    /// The music that the output took in its life, in seconds.
    private(set) var playtime = 0.0

    init(gain: Int32) { self.gain = gain }

    // MARK: The player's side

    mutating func setPlaying(_ isPlaying: Bool) {
        if isPlaying != self.isPlaying { isProgressTold = false }
        self.isPlaying = isPlaying
    }

    mutating func setGain(_ gain: Int32) { self.gain = gain }

    mutating func setReplayGain(_ mode: ReplayGainMode) { replayGain = mode }

    mutating func requestClose() { closing = .requested }

    /// Keeps the device open for the next job.
    mutating func revokeClose() { if isCloseRequested { closing = .notRequested } }

    /// Returns whether the device was closed on request since the last call.
    mutating func takeClosed() -> Bool {
        guard case .done = closing else { return false }
        closing = .notRequested
        return true
    }

    mutating func setReach(_ reach: DeviceReach?) { self.reach = reach }

    mutating func leaveFallback() { leavesFallback = true }

    mutating func fail(_ failure: OutputFailure) { self.failure = failure }

    /// Other samples follow from here on.
    mutating func restart() {
        isProgressTold = false
        failure = nil
        readiness = .filling(isAwaited: false)
    }

    /// More samples follow.
    mutating func expectMore() { if isDrained { readiness = .filling(isAwaited: true) } }

    /// Reports the next sound again. A file has no clock and is left out.
    mutating func awaitProgress() { if device?.kind != .file { isProgressTold = false } }

    /// Forgets the device of a thread that hangs.
    mutating func abandonDevice() {
        busySince = nil
        device = nil
        revokeClose()
    }

    // MARK: The output's side

    var isCloseRequested: Bool { if case .requested = closing { true } else { false } }

    /// Everything that was asked for has been handed to the device.
    var isDrained: Bool { if case .drained = readiness { true } else { false } }

    /// Whether the output waits for the decoder.
    var isStarved: Bool { if case .filling(isAwaited: true) = readiness { true } else { false } }

    /// Whether too little has been decoded to play.
    var isFilling: Bool { if case .filling = readiness { true } else { false } }

    /// Whether the player is still to be told that the sound runs.
    var hasUntoldProgress: Bool { !isProgressTold }

    /// The thread goes to work on an order.
    mutating func begin(_ order: OutputOrder, now: Int64) {
        if isStarved { readiness = .filling(isAwaited: false) }
        if case .retire = order { return }
        busySince = now
    }

    /// The thread has returned from libao.
    mutating func returned() { busySince = nil }

    mutating func give(_ contents: StepContents) { giving = contents }

    mutating func handedOver(_ frames: Int, rate: Int) {
        handed.add(frames, isMusic: giving.music)
        if giving.music { playtime += Double(frames) / Double(rate) }
    }

    /// The step of the paced device that is under way.
    var pacedStep: PacedStep? { pacing.step }

    mutating func beginPacedStep(_ contents: StepContents, frames: Int, rate: Int, now: Int64) -> PacedStep {
        pacing.begin(contents, frames: frames, rate: rate, now: now)
    }

    /// Ends the step, at its end or early. Returns the frames that were heard.
    mutating func endPacedStep(now: Int64) -> Int {
        let step = pacing.step
        let frames = pacing.end(now: now)
        handed.add(frames)
        if let step, step.contents.music { playtime += Double(frames) / Double(step.rate) }
        return frames
    }

    /// Updates the readiness from the frames in the ring, which can be played from `enough` on. Counts underruns.
    mutating func prepare(count: Int, enough: Int, wantsDrain: Bool) -> Bool {
        if case .ready = readiness {
            if count > 0 { return true }
            if let device, device.kind != .file, !wantsDrain, handed.total > 0 { underruns += 1 }
        } else if count >= enough {
            readiness = .ready
            return true
        }
        readiness = .filling(isAwaited: true)
        isProgressTold = false
        return false
    }

    /// Everything asked for has been handed over. Returns false if that was known.
    mutating func drain() -> Bool {
        if isDrained { return false }
        readiness = .drained
        return true
    }

    /// The ring was replaced by an empty one.
    mutating func refill() { if !isStarved { readiness = .filling(isAwaited: false) } }

    /// The announcement's samples did not arrive in time.
    mutating func announcementStarved() { if let device, device.kind != .file { underruns += 1 } }

    mutating func opened(_ device: OpenDevice) {
        self.device = device
        handed = HandedFrames()
        pacing = Pacing()
        isProgressTold = false
        leavesFallback = false
    }

    /// The device took nothing. Forgets it before it is closed: samples that it took before the loss do not mean that it is
    /// back.
    mutating func lost(code: CInt, now: Int64) {
        failure = .lost(device, code)
        device = nil
        handed = HandedFrames()
        busySince = now
    }

    mutating func closed() {
        device = nil
        pacing = Pacing()
        if isCloseRequested { closing = .done }
    }

    /// The thread has ended, and its device is closed.
    mutating func retired() { closing = .done }

    mutating func tellProgress() { isProgressTold = true }

    /// The time of the music runs again; report that soon.
    mutating func progressChanged() { isProgressTold = false }
}
