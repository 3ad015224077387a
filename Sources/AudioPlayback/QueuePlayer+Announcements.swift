package import BackgrounderAPI
import Logging

/// Announcements: files that play now, over the music or instead of it, and give way to it afterwards.
///
/// They are no part of the queue and of no state that is stored. Pause, play, next, previous and seek act on the music
/// beneath; `stop` is silence, so it takes them away too. The volume is theirs as well.
extension QueuePlayer {
    /// Plays a file now, or behind the announcements that came before it and those of a higher priority.
    ///
    /// The music is held at the frame where it is and goes on with the very next one; with `duck` (0 to 1) it goes on
    /// beneath, multiplied with that. Where no music plays the device is opened for it, and closed behind it. The answer
    /// does not wait for the file's content: what cannot be played is reported as items of the queue are.
    ///
    /// Throws ``PlayerError/invalidDuck(_:)``, ``PlayerError/outside(path:folder:)``, ``PlayerError/noSuchPath(path:)``, ``PlayerError/notAFile(path:kind:)``,
    /// ``PlayerError/unreadable(path:reason:)``, ``PlayerError/suspended`` and
    /// ``PlayerError/tooManyAnnouncements(limit:)``.
    package func interrupt(
        with path: String,
        within scope: MediaScope = .everywhere,
        duck: Double? = nil,
        priority: Int = 0
    ) async throws -> AudioStatus {
        if let duck, !(0...1).contains(duck) { throw PlayerError.invalidDuck(duck) }
        try await mediaFolder.requireFile(path, within: scope)
        settle()
        guard !isSuspended, !isShuttingDown else { throw PlayerError.suspended }
        nextToken += 1
        try announcements.add(Announcement(token: nextToken, path: path, duck: duck, priority: priority))
        announceNext()
        unsentEvents.append(.changed)
        await commit()
        return present()
    }

    var isAnnouncing: Bool { announcements.current != nil }

    /// Takes in what became of the announcement. It comes before the output's own news.
    func settleAnnouncements() {
        guard let current = announcements.current else { return }
        let news = pipeline.takeAnnouncementReports()
        for report in news.reports {
            switch report {
            case .faulty(let job, let fault) where job.token == current.token:
                note(path: job.path, fault.reason)
                logger.warning("\(printable(job.path)): \(fault.reason)")
            case .failed(let job, let reason) where job.token == current.token: announcementFailed(reason)
            default: break
            }
        }
        if news.begun == current.token, announcements.current?.hasBegun == false {
            announcements.current?.hasBegun = true
            logger.info("Announcement: \(printable(current.path))")
            unsentEvents.append(.changed)
        }
        if news.ended == current.token {
            announcements.current = nil
            unsentEvents.append(.changed)
        }
        announceNext()
    }

    /// Gives the pipeline the next one where none plays, and sees to it that there is a thread to decode it.
    private func announceNext() {
        while !isAnnouncing, let next = announcements.advance() {
            pipeline.announce(job(next, at: 0), isFollowed: isFollowed)
            prepareOutput()
            readDuration(of: next)
        }
        if isAnnouncing, !pipeline.startAnnouncerIfNeeded() {
            announcementFailed("the system has no thread to read it")
            return announceNext()
        }
        pipeline.setFollowed(isFollowed)
        // Nobody waits for the device any more; it is opened when somebody plays again.
        if !isAnnouncing, intent != .playing, outage != nil {
            outage = nil
            allowOpening()
        }
    }

    private var isFollowed: Bool { !announcements.waiting.isEmpty }

    /// How many wait, or nothing.
    var waitingAnnouncements: Int? { isFollowed ? announcements.waiting.count : nil }

    private func job(_ announcement: Announcement, at seconds: Double) -> AnnouncementJob {
        let music = announcement.duck.map { MusicBeneath.ducked(Int32(($0 * Double(fullLevel)).rounded())) }
        return AnnouncementJob(
            token: announcement.token,
            path: announcement.path,
            start: seconds,
            music: music ?? .held
        )
    }

    private func prepareOutput() {
        startThreadsIfNeeded()
        watchOutput()
    }

    /// The device was lost: the announcement goes on where it was heard, once there is one again.
    func resumeAnnouncement() {
        // It may have ended since the last look, and that is still to be told.
        guard let current = announcements.current, let snapshot = pipeline.announcement() else { return }
        pipeline.announce(job(current, at: snapshot.elapsed), isFollowed: isFollowed, goesOn: current.hasBegun)
        announceNext()
        prepareOutput()
    }

    /// Silence: all announcements are forgotten.
    func dropAnnouncements(because reason: String) {
        guard !announcements.isEmpty else { return }
        let count = announcements.clear()
        logger.notice("\(count == 1 ? "An announcement was" : "\(count) announcements were") dropped: \(reason)")
        pipeline.dropAnnouncement(isFollowed: false)
        announceNext()
        unsentEvents.append(.changed)
    }

    /// It cannot be played, or not to its end; the next one has its turn.
    private func announcementFailed(_ reason: String) {
        guard let current = announcements.current else { return }
        note(path: current.path, reason)
        logger.warning("\(printable(current.path)): \(reason); the announcement is skipped")
        announcements.current = nil
        pipeline.dropAnnouncement(isFollowed: isFollowed)
    }

    /// Skips an announcement whose file has given nothing for `limit`. The time that is left of it, or `nil`.
    func checkAnnouncement(limit: Duration) async -> Duration? {
        guard isAnnouncing, let snapshot = pipeline.announcement(), let since = snapshot.starvedSince else {
            return nil
        }
        let left = Int64(limit.seconds * 1e9) - (monotonicNow() - since)
        guard left <= 1_000_000 else { return .nanoseconds(left) }
        settle()
        // It may have come at the last moment.
        guard isAnnouncing, pipeline.announcement()?.starvedSince == since else { return nil }
        pipeline.abandonAnnouncer()
        if snapshot.isTaken {
            announcementFailed("the file does not answer")
        } else {
            // The thread hangs in an older one, which was dropped.
            pipeline.announce(snapshot.job, isFollowed: isFollowed)
        }
        announceNext()
        await commit()
        return nil
    }

    private func readDuration(of announcement: Announcement) {
        Task {
            guard case .metadata(let metadata) = await metadataReader.read(announcement.path),
                let frames = metadata.frames, let format = metadata.format
            else { return }
            guard announcements.current?.token == announcement.token else { return }
            announcements.current?.duration = Double(frames) / Double(format.rate)
            unsentEvents.append(.changed)
            await commit()
        }
    }

    /// What status says about the one that plays or is about to.
    var announcementStatus: AnnouncementStatus? {
        guard let current = announcements.current else { return nil }
        let heard = current.hasBegun ? pipeline.announcement()?.elapsed : nil
        return AnnouncementStatus(
            path: current.path,
            elapsed: heard.map { min($0, current.duration ?? .infinity) },
            duration: current.duration,
            duck: current.duck,
            priority: current.priority
        )
    }
}
