import BackgrounderAPI
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
        if StreamAddress.isSupported(job.path) {
            if let stream = pipeline.openStream(of: job) { decode(job, stream, epoch, into: pipeline, &joint) }
            return
        }
        do throws(MediaError) {
            decode(job, try open(job), epoch, into: pipeline, &joint)
        } catch {
            pipeline.fail(job, reason: error.reason)
        }
    }

    /// Decodes a job from the network. A job that is no longer wanted ends without a report.
    private static func decode(
        _ job: DecodingJob,
        _ stream: WebStream,
        _ epoch: Int,
        into pipeline: Pipeline,
        _ joint: inout FormatJoint?
    ) {
        do throws(DecodingFault) {
            let source = try MP3StreamSource(stream)
            let live = stream.isLive ? LiveStream(station: stream.station) : nil
            pipeline.describe(job, try source.metadata(), live)
            let job = live == nil ? job : job.live()
            if job.start > 0 { try source.seek(toFrame: frame(at: job.start, of: source)) }
            decode(job, source, epoch, from: stream, into: pipeline, &joint)
        } catch {
            if !stream.isCancelled { pipeline.fail(job, reason: error.reason) }
        }
    }

    private static func decode(
        _ job: DecodingJob,
        _ source: any SampleSource,
        _ epoch: Int,
        from stream: WebStream? = nil,
        into pipeline: Pipeline,
        _ joint: inout FormatJoint?
    ) {
        var title: String?
        var seconds = job.start
        var hasSamples = false
        do throws(DecodingFault) {
            let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 16)
            defer { samples.deallocate() }
            joint?.begin(job, epoch, gain: source.replayGain, bitrate: source.bitrate)
            while true {
                let result = try source.read(into: samples)
                if let stream {
                    if stream.isCancelled { return }
                    if let new = stream.title, new != title {
                        title = new
                        pipeline.entitle(job, new)
                    }
                }
                switch result {
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
            if stream?.isCancelled == true { return }
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
        pipeline.begin(job, format: source.format, seconds: seconds, gain: source.replayGain, bitrate: source.bitrate)
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

    /// Returns the frame at `seconds`. Any frame past the end is the end.
    private static func frame(at seconds: Double, of source: any SampleSource) -> Int {
        Int(exactly: (seconds * Double(source.format.rate)).rounded(.down)) ?? .max
    }

    private static func open(_ job: DecodingJob) throws(MediaError) -> any SampleSource {
        let file = try MediaFile(path: job.path)
        do throws(DecodingFault) {
            let source = try openSampleSource(file)
            if job.start > 0 { try source.seek(toFrame: frame(at: job.start, of: source)) }
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
