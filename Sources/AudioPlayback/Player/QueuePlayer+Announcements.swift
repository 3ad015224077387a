package import BackgrounderAPI
import Logging
package import MediaFiles
package import SystemSupport

/// Announcements: files that play now, over the music or instead of it, until the music continues.
///
/// They are not part of the queue and are never stored. Pause, play, next, previous and seek act on the music; `stop`
/// means silence, so it drops announcements too. The volume applies to both.
extension QueuePlayer {
    /// Plays a file now, or after earlier announcements and those of a higher priority.
    ///
    /// The music is held and continues with the very next frame. With `duck` (0 to 1) it continues at that level instead.
    /// If no music plays, the device is opened for the announcement and closed after it. Returns without waiting for the
    /// file's content; a file that cannot be played is reported like an item of the queue. If its turn comes after
    /// `deadline`, because others play before it, it is dropped.
    ///
    /// - Throws: ``PlayerError/invalidDuck(_:)``, ``MediaError/outside(path:folder:)``,
    ///   ``MediaError/noSuchPath(path:)``, ``MediaError/notAFile(path:kind:)``,
    ///   ``MediaError/unreadable(path:reason:)``, ``PlayerError/suspended``,
    ///   ``PlayerError/outputDisabled`` or ``PlayerError/tooManyAnnouncements(limit:)``.
    package func interrupt(
        with path: String,
        within scope: MediaScope = .everywhere,
        duck: Double? = nil,
        priority: Int = 0,
        before deadline: MonotonicTime? = nil
    ) async throws -> AudioStatus {
        try await add(path, within: scope, duck: duck, priority: priority, before: deadline)
        return present()
    }

    /// Plays a file like ``interrupt(with:within:duck:priority:before:)``. The stream has one element, the end of the announcement.
    package func announce(
        _ path: String,
        within scope: MediaScope = .everywhere,
        duck: Double? = nil,
        priority: Int = 0,
        before deadline: MonotonicTime? = nil
    ) async throws -> AsyncStream<AnnouncementEnd> {
        let end = AsyncStream.makeStream(of: AnnouncementEnd.self)
        try await add(path, within: scope, duck: duck, priority: priority, before: deadline, end: end.continuation)
        return end.stream
    }

    private func add(
        _ path: String,
        within scope: MediaScope,
        duck: Double?,
        priority: Int,
        before deadline: MonotonicTime?,
        end: AsyncStream<AnnouncementEnd>.Continuation? = nil
    ) async throws {
        if let duck, !(0...1).contains(duck) { throw PlayerError.invalidDuck(duck) }
        try await mediaResolver.requireFile(path, within: scope)
        handleReports()
        guard case .active = activity else { throw PlayerError.suspended }
        guard list.options.outputEnabled else { throw PlayerError.outputDisabled }
        nextToken += 1
        try announcements.add(
            Announcement(token: nextToken, path: path, duck: duck, priority: priority, deadline: deadline)
        )
        announcementEnds[nextToken] = end
        announceNext()
        writes.send(.changed)
        await commit()
    }

    /// Tells the caller that waits for it how an announcement ended.
    private func noteEnd(_ end: AnnouncementEnd, of token: Int) {
        guard let continuation = announcementEnds.removeValue(forKey: token) else { return }
        continuation.yield(end)
        continuation.finish()
    }

    var isAnnouncing: Bool { announcements.current != nil }

    /// Handles the reports about announcements. Runs before those of the output.
    func handleAnnouncements() {
        guard let current = announcements.current else { return }
        let news = pipeline.takeAnnouncementReports()
        for report in news.reports {
            switch report {
            case .faulty(let job, let fault) where job.token == current.token:
                note(path: job.path, fault.reason)
                logger.warning("\(printable(job.path)): \(fault.reason)")
                noteEnd(.failed(reason: fault.reason), of: current.token)
            case .failed(let job, let reason) where job.token == current.token: announcementFailed(reason)
            default: break
            }
        }
        if news.begun == current.token, announcements.begin() {
            logger.info("Announcement: \(printable(current.path))")
            writes.send(.changed)
        }
        if news.ended == current.token {
            announcements.endCurrent()
            noteEnd(.played, of: current.token)
            writes.send(.changed)
        }
        announceNext()
    }

    /// Starts the next announcement if none plays, and a thread to decode it.
    private func announceNext() {
        for late in announcements.removeLate(at: .now) {
            logger.notice("Dropped the announcement \(printable(late.path)): its turn came too late")
            noteEnd(.late, of: late.token)
        }
        while !isAnnouncing, let next = announcements.advance() {
            pipeline.announce(job(next, at: 0), isFollowed: isFollowed)
            prepareOutput()
            readDuration(of: next)
        }
        if isAnnouncing, !pipeline.startAnnouncerIfNeeded() {
            announcementFailed("the system cannot start another thread")
            return announceNext()
        }
        pipeline.setFollowed(isFollowed)
        // Nothing waits for the device any more; playing opens it again.
        if !isAnnouncing, activity.playback != .playing, recovery.isWaiting { endOutage() }
    }

    private var isFollowed: Bool { !announcements.waiting.isEmpty }

    /// The number of waiting announcements; nil if none waits.
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

    /// Resumes the announcement at the heard position once a lost device is back.
    func resumeAnnouncement() {
        // It may have ended since the last reports, and its end is handled later.
        guard let current = announcements.current, let snapshot = pipeline.announcement() else { return }
        pipeline.announce(job(current, at: snapshot.elapsed), isFollowed: isFollowed, continues: current.hasBegun)
        announceNext()
        prepareOutput()
    }

    /// Drops all announcements.
    func dropAnnouncements(because reason: String) {
        guard !announcements.isEmpty else { return }
        let count = announcements.clear()
        for token in announcementEnds.keys { noteEnd(.dropped(reason: reason), of: token) }
        logger.notice("Dropped \(count == 1 ? "an announcement" : "\(count) announcements"): \(reason)")
        pipeline.dropAnnouncement(isFollowed: false)
        announceNext()
        writes.send(.changed)
    }

    /// Ends an announcement that cannot be played, or not to its end; the next one follows.
    private func announcementFailed(_ reason: String) {
        guard let current = announcements.current else { return }
        note(path: current.path, reason)
        logger.warning("\(printable(current.path)): \(reason); the announcement is skipped")
        announcements.endCurrent()
        noteEnd(.failed(reason: reason), of: current.token)
        pipeline.dropAnnouncement(isFollowed: isFollowed)
    }

    /// Skips the announcement if its file delivered nothing for `limit`. Returns the time left until then, or nil.
    func checkAnnouncement(limit: Duration) async -> Duration? {
        guard isAnnouncing, let snapshot = pipeline.announcement(), let since = snapshot.awaitedSince else {
            return nil
        }
        let left = Int64(limit.seconds * 1e9) - (MonotonicTime.now.nanoseconds - since)
        guard left <= 1_000_000 else { return .nanoseconds(left) }
        handleReports()
        // Samples may have arrived at the last moment.
        guard isAnnouncing, pipeline.announcement()?.awaitedSince == since else { return nil }
        pipeline.abandonAnnouncer()
        if snapshot.isDecoding {
            announcementFailed("the file does not answer")
        } else {
            // The thread hangs in an older announcement, which was dropped.
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
            announcements.describe(duration: Double(frames) / Double(format.rate))
            writes.send(.changed)
            await commit()
        }
    }

    /// The status of the announcement that plays or is about to.
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
