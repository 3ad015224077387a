import SystemSupport

/// The state of an announcement, as the player sees it.
struct AnnouncementSnapshot {
    let job: AnnouncementJob
    /// Seconds of the announcement that have been heard.
    let elapsed: Double
    /// When its file stopped delivering samples, in nanoseconds of the monotonic clock.
    let awaitedSince: Int64?
    /// Whether the decoder has started on it.
    let isDecoding: Bool
}

/// The player's side of announcements. Nothing here blocks.
extension Pipeline {
    /// Plays an announcement as soon as it is decoded; until then the music continues.
    ///
    /// - Parameters:
    ///   - isFollowed: whether others wait after it, so that the music does not return in between.
    ///   - continues: whether it had begun before, so that the music does not return first.
    func announce(_ job: AnnouncementJob, isFollowed: Bool, continues: Bool = false) {
        monitor.withLock { state in
            state.endPacedStep(isInterrupted: true)
            let now = MonotonicTime.now.nanoseconds
            state.announcements.play(job, isFollowed: isFollowed, continues: continues, now: now)
        }
        rooms.wake(.announcer)
        rooms.wake(.output)
    }

    /// Whether an announcement waits for a thread that decodes it.
    var needsAnnouncer: Bool { monitor.withLock { $0.announcements.needsDecoder } }

    /// Cuts the announcement off. The music returns, unless others follow.
    func dropAnnouncement(isFollowed: Bool) {
        monitor.withLock { state in
            state.endPacedStep(isInterrupted: true)
            state.announcements.remove(isFollowed: isFollowed)
            state.announcementRemoved()
        }
    }

    /// Abandons an announcer thread that hangs on a disk.
    func abandonAnnouncer() {
        monitor.withLock { state in
            if state.threads.isRunning(.announcer) { state.threads.abandon(.announcer) }
        }
    }

    func setFollowed(_ isFollowed: Bool) {
        if monitor.withLock({ $0.announcements.setFollowed(isFollowed) }) { rooms.wake(.output) }
    }

    func announcement() -> AnnouncementSnapshot? {
        monitor.withLock { state in
            guard let current = state.announcements.current else { return nil }
            return AnnouncementSnapshot(
                job: current.job,
                elapsed: current.elapsed(at: MonotonicTime.now.nanoseconds),
                awaitedSince: current.awaitedSince,
                isDecoding: current.lease != nil
            )
        }
    }

    /// Returns the reports since the last call, and the tokens of the newest announcements that began and that ended.
    func takeAnnouncementReports() -> (reports: [AnnouncementReport], begun: Int, ended: Int) {
        monitor.withLock { $0.announcements.takeReports() }
    }
}
