import BackgrounderAPI

/// The thread that reads announcements: there is one while there is something to decode, beside that of the music, so
/// that a file on a slow disk holds up no note of it.
enum AnnouncerThread {
    /// False when there is no thread to be had.
    static func start(_ number: Int, _ pipeline: Pipeline) -> Bool {
        (try? detachThread(named: "announcements") {
            while let lease = pipeline.takeAnnouncement(thread: number) { decode(lease, into: pipeline) }
        }) != nil
    }

    private static func decode(_ lease: AnnouncementLease, into pipeline: Pipeline) {
        var frames = 0
        do throws(PlayerError) {
            guard let source = try open(lease, pipeline) else { return }
            // judgement: 32 KiB, some hundredths of a second, so that it is heard soon
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
                throw PlayerError.unreadable(path: lease.job.path, reason: error.reason)
            }
            // One that goes on after a loss may have been at its end.
            if frames == 0, lease.job.start == 0 {
                pipeline.fail(lease, reason: "there is no sound in it")
            } else {
                pipeline.finish(lease, fault: source.fault)
            }
        } catch {
            pipeline.fail(lease, reason: error.reason)
        }
    }

    /// The file in the format of the output. `nil` when nobody wants it any more.
    private static func open(
        _ lease: AnnouncementLease,
        _ pipeline: Pipeline
    ) throws(PlayerError) -> (any SampleSource)? {
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
