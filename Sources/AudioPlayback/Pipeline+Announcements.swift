/// What the player sees of an announcement.
struct AnnouncementSnapshot {
    let job: AnnouncementJob
    /// Seconds of it that have been heard.
    let elapsed: Double
    /// In nanoseconds of the monotonic clock: since when its file has given nothing.
    let starvedSince: Int64?
    /// The decoder has begun with it.
    let isTaken: Bool
}

/// What the player calls; none of it blocks.
extension Pipeline {
    /// judgement: so many disks that do not answer; no more threads are given to them
    private static var mostStuckAnnouncers: Int { 4 }

    /// Plays it as soon as it is decoded; the music goes on till then.
    ///
    /// - Parameters:
    ///   - isFollowed: others wait behind it, so the music does not come back in between.
    ///   - goesOn: it had begun, so the music does not come back before it.
    func announce(_ job: AnnouncementJob, isFollowed: Bool, goesOn: Bool = false) {
        monitor.withLock { state in
            settlePacing(&state, isInterrupted: true)
            var new = PlayingAnnouncement(job: job)
            new.starvedSince = monotonicNow()
            state.announcements.current = new
            state.announcements.isFollowed = isFollowed
            if goesOn { state.announcements.hold = job.music }
        }
        signalAnnouncement()
    }

    /// Starts the thread that decodes it, where that is needed. False when there is no thread to be had.
    func startAnnouncerIfNeeded() -> Bool {
        let (isNeeded, thread): (Bool, Int?) = monitor.withLock { state in
            guard let current = state.announcements.current, current.lease == nil, !state.announcements.hasThread else {
                return (false, nil)
            }
            guard state.announcements.stuckThreads < Self.mostStuckAnnouncers else { return (true, nil) }
            state.announcements.thread += 1
            state.announcements.hasThread = true
            return (true, state.announcements.thread)
        }
        guard isNeeded else { return true }
        guard let thread else { return false }
        if AnnouncerThread.start(thread, self) { return true }
        monitor.withLock { $0.announcements.hasThread = false }
        return false
    }

    /// Takes the announcement away in mid-word. The music comes back, unless others follow.
    func dropAnnouncement(isFollowed: Bool) {
        monitor.withLock { state in
            settlePacing(&state, isInterrupted: true)
            state.announcements.isFollowed = isFollowed
            removeAnnouncement(&state)
        }
        signalAnnouncement()
    }

    /// Leaves a thread that hangs on a disk to itself.
    func abandonAnnouncer() {
        monitor.withLock { state in
            guard state.announcements.hasThread else { return }
            state.announcements.thread += 1
            state.announcements.hasThread = false
            state.announcements.stuckThreads += 1
        }
    }

    func setFollowed(_ isFollowed: Bool) {
        monitor.withLock { state in
            state.announcements.isFollowed = isFollowed
            guard !isFollowed, state.announcements.current == nil, state.announcements.hold != nil else { return }
            state.announcements.hold = nil
            monitor.signal(.output)
        }
    }

    func announcement() -> AnnouncementSnapshot? {
        monitor.withLock { state in
            guard let current = state.announcements.current else { return nil }
            let elapsed = current.elapsed(at: monotonicNow())
            return AnnouncementSnapshot(
                job: current.job,
                elapsed: elapsed,
                starvedSince: current.starvedSince,
                isTaken: current.lease != nil
            )
        }
    }

    /// What has been reported since the last call, and the tokens of the newest that began and that ended.
    func takeAnnouncementReports() -> (reports: [AnnouncementReport], begun: Int, ended: Int) {
        monitor.withLock { state in
            defer { state.announcements.reports = [] }
            state.announcements.spent = nil
            return (state.announcements.reports, state.announcements.begun, state.announcements.ended)
        }
    }

    private func signalAnnouncement() {
        monitor.signal(.announcer)
        monitor.signal(.output)
    }
}
