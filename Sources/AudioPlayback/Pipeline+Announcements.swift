/// The state of an announcement, as the player sees it.
struct AnnouncementSnapshot {
    let job: AnnouncementJob
    /// Seconds of the announcement that have been heard.
    let elapsed: Double
    /// When its file stopped delivering samples, in nanoseconds of the monotonic clock.
    let starvedSince: Int64?
    /// Whether the decoder has started on it.
    let isTaken: Bool
}

/// The player's side of announcements. Nothing here blocks.
extension Pipeline {
    /// Tuned: the most announcer threads that may hang on disks; a device with more dead disks is beyond help.
    private static var mostStuckAnnouncers: Int { 4 }

    /// Plays an announcement as soon as it is decoded; until then the music continues.
    ///
    /// - Parameters:
    ///   - isFollowed: whether others wait after it, so that the music does not return in between.
    ///   - goesOn: whether it had begun before, so that the music does not return first.
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

    /// Starts the thread that decodes the announcement, if it needs one. Returns false if no thread could be started.
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

    /// Cuts the announcement off. The music returns, unless others follow.
    func dropAnnouncement(isFollowed: Bool) {
        monitor.withLock { state in
            settlePacing(&state, isInterrupted: true)
            state.announcements.isFollowed = isFollowed
            removeAnnouncement(&state)
        }
        signalAnnouncement()
    }

    /// Abandons an announcer thread that hangs on a disk.
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

    /// Returns the reports since the last call, and the tokens of the newest announcements that began and that ended.
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
