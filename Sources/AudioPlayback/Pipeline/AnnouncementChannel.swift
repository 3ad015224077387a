import MediaFiles

/// The pipeline's state of announcements. While there is none, only two of its fields are read.
struct AnnouncementChannel {
    private(set) var current: PlayingAnnouncement?
    /// Others wait after the current one.
    private var isFollowed = false
    /// Between two announcements, the music stays as it was during the first.
    private var hold: MusicBeneath?
    /// The current level of the music.
    private var level = fullLevel
    /// The device was opened for an announcement and has played nothing else.
    private(set) var ownsDevice = false

    /// The tokens of the newest announcement that began, and of the newest that played to its end.
    private var begun = 0
    private var ended = 0
    /// An announcement that ended, kept so that the output thread does not free its memory.
    private var spent: PlayingAnnouncement?
    private var reports: [AnnouncementReport] = []
    private var leases = 0

    /// Whether the device is needed even without music.
    var holdsDevice: Bool { current?.isReady == true || current?.hasBegun == true || hold != nil }

    /// The treatment of the music now; nil without an announcement.
    var beneath: MusicBeneath? {
        if let current, current.hasBegun { return current.job.music }
        return hold
    }

    // MARK: The player's side

    /// Makes `job` the current announcement. If it `continues`, the music does not return first.
    mutating func play(_ job: AnnouncementJob, isFollowed: Bool, continues: Bool, now: Int64) {
        current = PlayingAnnouncement(job: job, now: now)
        self.isFollowed = isFollowed
        if continues { hold = job.music }
    }

    /// Sets whether others wait. Returns whether the music may return because of that.
    mutating func setFollowed(_ isFollowed: Bool) -> Bool {
        self.isFollowed = isFollowed
        guard !isFollowed, current == nil, hold != nil else { return false }
        hold = nil
        return true
    }

    /// Removes the current announcement. The music returns, unless others follow.
    mutating func remove() {
        if !isFollowed { hold = nil }
        current = nil
    }

    mutating func remove(isFollowed: Bool) {
        self.isFollowed = isFollowed
        remove()
    }

    /// Returns the reports since the last call, and the tokens of the newest announcements that began and that ended.
    mutating func takeReports() -> (reports: [AnnouncementReport], begun: Int, ended: Int) {
        defer { reports = [] }
        spent = nil
        return (reports, begun, ended)
    }

    // MARK: The decoder's side

    /// Whether an announcement waits for a decoder.
    var needsDecoder: Bool { current != nil && current?.lease == nil }

    mutating func lend() -> AnnouncementLease? {
        guard let job = current?.job, needsDecoder else { return nil }
        leases += 1
        current?.lend(leases)
        return AnnouncementLease(number: leases, job: job)
    }

    func isWanted(_ lease: AnnouncementLease) -> Bool { current?.lease == lease.number }

    mutating func begin(in format: AudioFormat) { current?.begin(in: format) }

    /// Appends samples. Returns how many frames there was room for.
    mutating func append(_ samples: UnsafePointer<Int16>, frames: Int) -> Int {
        current?.append(samples, frames: frames) ?? 0
    }

    mutating func complete() { current?.complete() }

    mutating func report(_ report: AnnouncementReport) { reports.append(report) }

    // MARK: The output's side

    mutating func starve(at now: Int64) { current?.starve(at: now) }

    /// A device is about to be opened for the announcement; `isOwn`: for nothing else.
    mutating func openDevice(isOwn: Bool) { ownsDevice = isOwn }

    /// The device plays music now, or is closed.
    mutating func releaseDevice() { ownsDevice = false }

    /// Applies the level of the music to `samples`, with a ramp from the level before.
    mutating func applyMusicLevel(to samples: UnsafeMutablePointer<Int16>, frames: Int, of format: AudioFormat) {
        let target = beneath?.level ?? fullLevel
        guard level != fullLevel || target != fullLevel else { return }
        applyLevel(
            &level,
            target: target,
            slope: levelSlope(rate: format.rate),
            to: samples,
            frames: frames,
            channels: format.channels
        )
    }

    /// No music is heard: it returns at the announcement's level.
    mutating func noteSilentMusic() { level = current?.job.music.level ?? fullLevel }

    /// Music that was silent returns at its full level.
    mutating func resetMusicLevel() { level = fullLevel }

    /// The current announcement is heard from here on. Returns false if it was heard before.
    mutating func begin() -> Bool {
        guard let current, !current.hasBegun else { return false }
        self.current?.begin()
        begun = current.job.token
        hold = nil
        return true
    }

    /// Ends the current announcement. The next one starts immediately, with no music in between.
    mutating func end() {
        guard let current else { return }
        ended = current.job.token
        spent = current
        remove()
        hold = isFollowed ? current.job.music : nil
    }

    /// Has the current announcement decoded again from its heard position, in another format.
    mutating func decodeAgain(at now: Int64) {
        guard let current else { return }
        var job = current.job
        job.start = current.elapsed(at: now)
        spent = current
        self.current = PlayingAnnouncement(job: job, now: now)
    }

    /// See ``PlayingAnnouncement/handedOver(of:buffer:rate:now:)``.
    mutating func handedOver(of handed: Int, buffer: Int, rate: Int, now: Int64) {
        current?.handedOver(of: handed, buffer: buffer, rate: rate, now: now)
    }

    mutating func pace(_ frames: Int, rate: Int, start: Int64) { current?.pace(frames, rate: rate, start: start) }

    mutating func skip(_ frames: Int, rate: Int, now: Int64) { current?.skip(frames, rate: rate, now: now) }

    mutating func stand(at now: Int64) { current?.stand(at: now) }
}
