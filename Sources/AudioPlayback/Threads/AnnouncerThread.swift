import MediaFiles
import SystemSupport

/// The thread that decodes announcements, while there are any. It is separate from the music's, so that a file on a slow
/// disk does not interrupt the music.
enum AnnouncerThread {
    /// Starts the thread. Returns false if the system has none.
    fileprivate static func start(_ number: Int, _ pipeline: Pipeline) -> Bool {
        (try? detachThread(named: "announcements") {
            while let lease = pipeline.nextAnnouncement(thread: number) { decode(lease, into: pipeline) }
        }) != nil
    }

    private static func decode(_ lease: AnnouncementLease, into pipeline: Pipeline) {
        var frames = 0
        do throws(MediaError) {
            guard let source = try open(lease, pipeline) else { return }
            // Tuned: 32 KiB are a fraction of a second, so the announcement starts soon.
            let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 14)
            defer { samples.deallocate() }
            do throws(DecodingFault) {
                while case .frames(let count) = try source.read(into: samples) {
                    guard let start = samples.baseAddress, pipeline.append(start, frames: count, of: lease) else {
                        return
                    }
                    frames += count
                }
            } catch  where frames > 0 {
                return pipeline.finish(lease, fault: error)
            } catch {
                throw MediaError.unreadable(path: lease.job.path, reason: error.reason)
            }
            // An announcement that continues after a loss may have been at its end.
            if frames == 0, lease.job.start == 0 {
                pipeline.fail(lease, reason: "it contains no sound")
            } else {
                pipeline.finish(lease, fault: source.fault)
            }
        } catch {
            pipeline.fail(lease, reason: error.reason)
        }
    }

    /// Opens the file in the output's format. Returns nil if the announcement is no longer wanted.
    private static func open(
        _ lease: AnnouncementLease,
        _ pipeline: Pipeline
    ) throws(MediaError) -> (any SampleSource)? {
        let file = try MediaFile(path: lease.job.path)
        do throws(DecodingFault) {
            let source = try openSampleSource(file)
            guard let format = pipeline.begin(lease, format: source.format) else { return nil }
            let resampled = try ResampledSource(source, to: format)
            let frame = Int(exactly: (lease.job.start * Double(format.rate)).rounded(.down)) ?? .max
            if frame > 0 { try resampled.seek(toFrame: frame) }
            return resampled
        } catch {
            throw .unreadable(path: lease.job.path, reason: error.reason)
        }
    }
}

extension Pipeline {
    /// Tuned: the most announcer threads that may hang on disks; a device with more dead disks is beyond help.
    private static var mostStuckAnnouncers: Int { 4 }

    /// Starts the thread that decodes the announcement, if it needs one. Returns false if no thread could be started.
    func startAnnouncerIfNeeded() -> Bool {
        guard needsAnnouncer else { return true }
        let limit = Self.mostStuckAnnouncers
        return startThread(.announcer, limit: limit) { AnnouncerThread.start($0, self) } == .works
    }
}
