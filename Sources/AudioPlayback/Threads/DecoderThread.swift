import MediaFiles
import SystemSupport

/// The thread that decodes files. It runs ahead until the ring is full, in few large steps.
enum DecoderThread {
    /// Starts the thread. Returns false if the system has none.
    fileprivate static func start(_ pipeline: Pipeline) -> Bool {
        (try? detachThread(named: "audio decoder") {
            var joint = pipeline.format.map { FormatJoint(pipeline, to: $0) }
            while let order = pipeline.nextDecoderOrder() {
                switch order {
                case .decode(let job, let epoch): decode(job, epoch, into: pipeline, &joint)
                case .endTail(let epoch): joint?.endTail(epoch)
                }
            }
        }) != nil
    }

    private static func decode(_ job: DecodingJob, _ epoch: Int, into pipeline: Pipeline, _ joint: inout FormatJoint?) {
        let source: any SampleSource
        do throws(MediaError) {
            source = try open(job)
        } catch {
            pipeline.fail(job, reason: error.reason)
            return
        }
        var seconds = job.start
        var hasSamples = false
        do throws(DecodingFault) {
            let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 16)
            defer { samples.deallocate() }
            joint?.begin(job, epoch, gain: source.replayGain)
            while true {
                switch try source.read(into: samples) {
                case .frames(0): continue
                case .frames(let count):
                    guard let start = samples.baseAddress else { return }
                    if joint != nil {
                        if try joint?.append(start, frames: count, of: source.format) != true { return }
                    } else {
                        if !hasSamples, !begin(job, source, seconds, pipeline) { return }
                        guard pipeline.append(start, frames: count, of: job) else { return }
                    }
                    hasSamples = true
                    seconds += Double(count) / Double(source.format.rate)
                case .changed:
                    if hasSamples, joint == nil, !begin(job, source, seconds, pipeline) { return }
                // Otherwise a repeated queue of such items would be opened endlessly.
                case .end where !hasSamples && job.start == 0:
                    pipeline.fail(job, reason: "it contains no sound")
                    return
                case .end:
                    try finish(job, source.fault, pipeline, &joint)
                    return
                }
            }
        } catch {
            guard hasSamples, (try? finish(job, error, pipeline, &joint)) != nil else {
                pipeline.fail(job, reason: error.reason)
                return
            }
        }
    }

    private static func begin(
        _ job: DecodingJob,
        _ source: any SampleSource,
        _ seconds: Double,
        _ pipeline: Pipeline
    ) -> Bool {
        pipeline.begin(job, format: source.format, seconds: seconds, gain: source.replayGain)
    }

    private static func finish(
        _ job: DecodingJob,
        _ fault: DecodingFault?,
        _ pipeline: Pipeline,
        _ joint: inout FormatJoint?
    ) throws(DecodingFault) {
        guard joint != nil else { return pipeline.finish(job, fault: fault) }
        guard let hasTail = try joint?.end() else { return }
        pipeline.finish(job, fault: fault, hasTail: hasTail)
    }

    private static func open(_ job: DecodingJob) throws(MediaError) -> any SampleSource {
        let file = try MediaFile(path: job.path)
        do throws(DecodingFault) {
            let source = try openSampleSource(file)
            // Any frame past the end is the end.
            let frame = Int(exactly: (job.start * Double(source.format.rate)).rounded(.down)) ?? .max
            if job.start > 0 { try source.seek(toFrame: frame) }
            return source
        } catch {
            throw .unreadable(path: job.path, reason: error.reason)
        }
    }
}

extension Pipeline {
    /// Starts the decoder thread, unless it works. Returns false if the system has no thread.
    func startDecoderIfNeeded() -> Bool { startThread(.decoder) { _ in DecoderThread.start(self) } == .works }
}
