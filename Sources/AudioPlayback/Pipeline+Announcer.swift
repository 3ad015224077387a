/// The announcer thread's side of the pipeline. `append` may block.
extension Pipeline {
    /// Tuned: seconds of an announcement decoded ahead; enough to ride out a slow disk, and little memory.
    private static var announcedSeconds: Int { 2 }
    /// Tuned: frames decoded before an announcement begins; a quarter of a second starts it promptly.
    private static func announcementPriming(rate: Int) -> Int { rate / 4 }

    /// Returns the announcement to decode. Returns nil when there is none or the thread was abandoned; the thread then ends.
    func takeAnnouncement(thread: Int) -> AnnouncementLease? {
        monitor.withLock { state in
            guard state.announcements.thread == thread else {
                state.announcements.stuckThreads -= 1
                return nil
            }
            guard !state.isShutDown, let current = state.announcements.current, current.lease == nil else {
                state.announcements.hasThread = false
                return nil
            }
            state.announcements.nextLease += 1
            state.announcements.current?.lease = state.announcements.nextLease
            return AnnouncementLease(number: state.announcements.nextLease, job: current.job)
        }
    }

    /// Returns the format to deliver: the open device's; if none is open, the configured format or the music's; else the
    /// file's. Returns nil if the announcement is no longer wanted.
    func begin(_ lease: AnnouncementLease, format: AudioFormat) -> AudioFormat? {
        monitor.withLock { state in
            guard isWanted(lease, state) else { return nil }
            let ofMusic = state.isPlaying ? state.ring?.format : nil
            let format = state.device?.format ?? self.format ?? ofMusic ?? format
            state.announcements.current?.ring = SampleRing(format: format, seconds: Self.announcedSeconds)
            return format
        }
    }

    /// Appends samples to the announcement's ring, waiting for room. Returns false if they are no longer wanted.
    func append(_ samples: UnsafePointer<Int16>, frames: Int, of lease: AnnouncementLease) -> Bool {
        var done = 0
        while done < frames {
            let put: Int? = monitor.wait(in: .announcer) { state in
                guard isWanted(lease, state), let ring = state.announcements.current?.ring else { return .done(nil) }
                let isFilling = state.announcements.current?.isFilling == true
                if !isFilling, ring.free < ring.capacity / 2 { return .wait() }
                let count = min(frames - done, ring.free)
                state.announcements.current?.isFilling = count > 0
                guard count > 0 else { return .wait() }
                ring.append(samples + done * ring.format.channels, frames: count)
                if ring.count >= Self.announcementPriming(rate: ring.format.rate) { prime(&state) }
                return .done(count)
            }
            guard let put else { return false }
            done += put
        }
        return true
    }

    func finish(_ lease: AnnouncementLease, fault: DecodingFault?) {
        monitor.withLock { state in
            guard isWanted(lease, state) else { return }
            if let fault { state.announcements.reports.append(.faulty(lease.job, fault)) }
            state.announcements.current?.isDecoded = true
            prime(&state)
        }
        reports.send()
    }

    func fail(_ lease: AnnouncementLease, reason: String) {
        monitor.withLock { state in
            guard isWanted(lease, state) else { return }
            state.announcements.reports.append(.failed(lease.job, reason: reason))
            removeAnnouncement(&state)
        }
        reports.send()
    }

    private func isWanted(_ lease: AnnouncementLease, _ state: PipelineState) -> Bool {
        state.announcements.current?.lease == lease.number && !state.isShutDown
    }

    private func prime(_ state: inout PipelineState) {
        guard state.announcements.current?.isPrimed == false else { return }
        state.announcements.current?.isPrimed = true
        state.announcements.current?.starvedSince = nil
        monitor.signal(.output)
    }
}
