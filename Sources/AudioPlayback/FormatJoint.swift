/// Brings the items of a queue into one format on their way into the ring.
///
/// A resampler looks ahead, so the last samples of an item, its tail, come out when the first of the next one have gone
/// in: where both have the same format one resampler runs on, and the join is what it would be in one long file. An item
/// shorter than the resampler's view ahead, or of another format, begins anew.
///
/// Belongs to the decoder thread.
struct FormatJoint: ~Copyable {
    private let pipeline: Pipeline
    private let format: AudioFormat
    private var converter: FormatConverter?
    private var epoch = -1
    private var job: DecodingJob?
    private var gain = ReplayGain()
    /// Frames of the item before that are still to come.
    private var tail = 0
    private var hasBegun = false
    private let output: UnsafeMutableBufferPointer<Int16>

    init(_ pipeline: Pipeline, to format: AudioFormat) {
        self.pipeline = pipeline
        self.format = format
        output = .allocate(capacity: (1 << 14) * format.channels)
    }

    deinit { output.deallocate() }

    /// What is appended next belongs to `job`.
    mutating func begin(_ job: DecodingJob, _ epoch: Int, gain: ReplayGain) {
        // One that was given up halfway has no end to join on to.
        if epoch != self.epoch || self.job != nil {
            converter = nil
            tail = 0
        }
        self.epoch = epoch
        self.job = job
        self.gain = gain
        hasBegun = false
    }

    /// Converts and appends samples of the job. False when nobody wants them any more.
    mutating func append(
        _ samples: UnsafePointer<Int16>,
        frames: Int,
        of source: AudioFormat
    ) throws(DecodingFault) -> Bool {
        if let converter, converter.source != source, try !drain() { return false }
        if converter == nil { converter = try FormatConverter(from: source, to: format) }
        guard let converter else { return false }
        var done = 0
        while done < frames, let start = output.baseAddress {
            let step = try converter.convert(
                samples + done * source.channels,
                frames: frames - done,
                into: start,
                capacity: output.count / format.channels
            )
            done += step.taken
            if !put(step.given) { return false }
        }
        return true
    }

    /// The job has been appended to its end; whether some of it is still to come. `nil` when nobody wants it any more.
    mutating func end() throws(DecodingFault) -> Bool? {
        if !hasBegun {
            guard try drain() else { return nil }
            // Too little for a single frame; behind a seek that is the end.
            guard hasBegun || job?.start != 0 else { throw .broken("there is no sound in it") }
        }
        job = nil
        tail = converter?.owed ?? 0
        return tail > 0
    }

    /// Nothing follows.
    mutating func endTail(_ epoch: Int) {
        guard epoch == self.epoch, job == nil else { return }
        if (try? drain()) == nil || tail > 0, let start = output.baseAddress {
            // Without memory for the rest, the end is here.
            tail = 0
            _ = pipeline.appendTail(start, frames: 0, isEnd: true, epoch: epoch)
        }
    }

    /// All that is in the converter, which is used up then.
    private mutating func drain() throws(DecodingFault) -> Bool {
        guard let converter, let start = output.baseAddress else { return true }
        self.converter = nil
        while case let count = try converter.drain(into: start, capacity: output.count / format.channels), count > 0 {
            if !put(count) { return false }
        }
        return true
    }

    /// Gives each of the two items what belongs to it.
    private mutating func put(_ frames: Int) -> Bool {
        guard frames > 0, let start = output.baseAddress else { return true }
        let old = min(tail, frames)
        if old > 0 {
            tail -= old
            guard pipeline.appendTail(start, frames: old, isEnd: tail == 0, epoch: epoch) else { return false }
        }
        guard frames > old, let job else { return true }
        if !hasBegun {
            guard pipeline.begin(job, format: format, seconds: job.start, gain: gain) else { return false }
            hasBegun = true
        }
        return pipeline.append(start + old * format.channels, frames: frames - old, of: job)
    }
}
