import MediaFiles

/// The announcer thread's side of the pipeline. `append` may block.
extension Pipeline {
    /// Returns the announcement to decode. Returns nil when there is none or the thread was abandoned; the thread then ends.
    func nextAnnouncement(thread: Int) -> AnnouncementLease? {
        monitor.withLock { state in
            guard state.threads.isCurrent(thread, .announcer) else {
                state.threads.returned(.announcer)
                return nil
            }
            guard !state.isShutDown, let lease = state.announcements.lend() else {
                state.threads.end(.announcer)
                return nil
            }
            return lease
        }
    }

    /// Returns the format to deliver: the open device's; if none is open, the configured format or the music's; else the
    /// file's. Returns nil if the announcement is no longer wanted.
    func begin(_ lease: AnnouncementLease, format: AudioFormat) -> AudioFormat? {
        monitor.withLock { state in
            guard state.isWanted(lease) else { return nil }
            let ofMusic = state.output.isPlaying ? state.music.format : nil
            let format = state.output.device?.format ?? self.format ?? ofMusic ?? format
            state.announcements.begin(in: format)
            return format
        }
    }

    /// Appends samples to the announcement's ring, waiting for room. Returns false if they are no longer wanted.
    func append(_ samples: UnsafePointer<Int16>, frames: Int, of lease: AnnouncementLease) -> Bool {
        var done = 0
        while done < frames {
            let put: Int? = monitor.wait(as: .announcer) { state in
                guard state.isWanted(lease), let ring = state.announcements.current?.ring else { return .done(nil) }
                let count = state.supplyAnnouncement {
                    $0.append(samples + done * ring.format.channels, frames: frames - done)
                }
                return count > 0 ? .done(count) : .wait()
            }
            guard let put else { return false }
            done += put
        }
        return true
    }

    func finish(_ lease: AnnouncementLease, fault: DecodingFault?) {
        monitor.withLock { state in
            guard state.isWanted(lease) else { return }
            if let fault { state.announcements.report(.faulty(lease.job, fault)) }
            state.supplyAnnouncement { $0.complete() }
        }
        reports.send()
    }

    func fail(_ lease: AnnouncementLease, reason: String) {
        monitor.withLock { state in
            guard state.isWanted(lease) else { return }
            state.announcements.report(.failed(lease.job, reason: reason))
            state.announcements.remove()
            state.announcementRemoved()
        }
        reports.send()
    }
}

extension PipelineState {
    fileprivate func isWanted(_ lease: AnnouncementLease) -> Bool { announcements.isWanted(lease) && !isShutDown }

    /// Wakes the output if `body` delivers the samples that it waits for.
    fileprivate mutating func supplyAnnouncement<Result>(_ body: (inout AnnouncementChannel) -> Result) -> Result {
        let wasReady = announcements.current?.isReady
        defer { if wasReady == false, announcements.current?.isReady == true { rooms.wake(.output) } }
        return body(&announcements)
    }
}
