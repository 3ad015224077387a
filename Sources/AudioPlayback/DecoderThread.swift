/// The thread that reads files: it runs as far ahead as the ring has room, in few large steps.
enum DecoderThread {
    /// False when there is no thread to be had.
    static func start(_ pipeline: Pipeline) -> Bool {
        startThread {
            while let job = pipeline.takeJob() { decode(job, into: pipeline) }
        }
    }

    private static func decode(_ job: DecodingJob, into pipeline: Pipeline) {
        let source: any SampleSource
        do throws(PlayerError) {
            source = try open(job)
        } catch {
            pipeline.fail(job, reason: error.reason)
            return
        }
        let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 16)
        defer { samples.deallocate() }
        var seconds = job.start
        var hasBegun = false
        do throws(DecodingFault) {
            while true {
                switch try source.read(into: samples) {
                case .frames(0): continue
                case .frames(let count):
                    if !hasBegun, !pipeline.begin(job, format: source.format, seconds: seconds) { return }
                    hasBegun = true
                    guard let start = samples.baseAddress, pipeline.append(start, frames: count, of: job) else {
                        return
                    }
                    seconds += Double(count) / Double(source.format.rate)
                case .changed:
                    if hasBegun, !pipeline.begin(job, format: source.format, seconds: seconds) { return }
                // Else a queue of such items, repeated, would be opened without end.
                case .end where !hasBegun && job.start == 0:
                    pipeline.fail(job, reason: "there is no sound in it")
                    return
                case .end:
                    pipeline.finish(job, fault: source.fault)
                    return
                }
            }
        } catch {
            if hasBegun { pipeline.finish(job, fault: error) } else { pipeline.fail(job, reason: error.reason) }
        }
    }

    private static func open(_ job: DecodingJob) throws(PlayerError) -> any SampleSource {
        let file = try MediaFile(path: job.path)
        do throws(DecodingFault) {
            let source = try openSampleSource(file)
            // Past the end is the end, however far.
            let frame = Int(exactly: (job.start * Double(source.format.rate)).rounded(.down)) ?? .max
            if job.start > 0 { try source.seek(toFrame: frame) }
            return source
        } catch {
            throw .unreadable(path: job.path, reason: error.reason)
        }
    }
}
