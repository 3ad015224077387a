import MediaFiles
import SystemSupport

/// The state that a ``Pipeline``'s lock protects. Each part owns its own transitions; those here involve several parts.
struct PipelineState {
    var decoder = DecoderState()
    var music = MusicBuffer()
    var output: OutputState
    var announcements = AnnouncementChannel()
    var position = PositionSchedule()
    var threads = ThreadSlots()
    private(set) var isShutDown = false
    /// How much sound a live device holds.
    let latency: Duration
    let rooms: WaitingRooms
    let reports: ReportSignal

    init(latency: Duration, gain: Int32, rooms: WaitingRooms, reports: ReportSignal) {
        output = OutputState(gain: gain)
        self.latency = latency
        self.rooms = rooms
        self.reports = reports
    }

    /// Discards everything that was not heard and starts `job`; without a job it falls silent.
    mutating func restart(with job: DecodingJob?) {
        // Do not repeat the part of an announcement that was heard.
        endPacedStep(isInterrupted: true)
        // The announcement keeps the device open, and the next job finds it open.
        if job != nil, announcements.holdsDevice { output.revokeClose() }
        decoder.restart(with: job)
        music.restart(with: job)
        output.restart()
        position.follow(job)
    }

    mutating func shutDown() {
        isShutDown = true
        decoder.shutDown()
    }

    /// Removes the announcement, which the caller has replaced or ended, from the mix.
    mutating func announcementRemoved() {
        // Ducked music returns with a ramp; held music starts at its full level.
        if !output.isPlaying || !output.giving.music { announcements.resetMusicLevel() }
        rooms.wake(.announcer)
        rooms.wake(.output)
    }

    func wakeStarvedOutput() { if output.isStarved { rooms.wake(.output) } }

    func wakeDecoder() { if music.needsDecoder { rooms.wake(.decoder) } }

    /// Reports to the player that another item has begun, or that sound has resumed; it needs nothing else.
    mutating func reportProgress(now: Int64) {
        if position.isResting { rooms.wake(.position) }
        guard music.hasCrossed(at: now) || output.hasUntoldProgress else { return }
        output.tellProgress()
        music.tellTitles(at: now)
        reports.send()
    }
}
