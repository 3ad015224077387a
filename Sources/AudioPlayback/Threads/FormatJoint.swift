import MediaFiles

/// Converts the items of a queue to a common format on their way into the ring.
///
/// A resampler looks ahead, so the last samples of an item, its tail, come out after the first of the next item have gone
/// in. If both items have the same format, one resampler continues, and the join is that of a single long file. An item in
/// another format, or shorter than the resampler's look-ahead, starts with a new one.
///
/// Only the decoder thread uses it.
struct FormatJoint: ~Copyable {
    private let pipeline: Pipeline
    private let format: AudioFormat
    private var converter: FormatConverter?
    private var epoch = -1
    private var job: DecodingJob?
    private var gain = ReplayGain()
    private var bitrate: Int?
    /// The frames of the previous item that are still to come.
    private var tail = 0
    private var hasBegun = false
    private let output: UnsafeMutableBufferPointer<Int16>

    init(_ pipeline: Pipeline, to format: AudioFormat) {
        self.pipeline = pipeline
        self.format = format
        output = .allocate(capacity: (1 << 14) * format.channels)
    }

    deinit { output.deallocate() }

    /// Starts `job`: the samples appended next belong to it.
    mutating func begin(_ job: DecodingJob, _ epoch: Int, gain: ReplayGain, bitrate: Int?) {
        // A job that was abandoned halfway has no end to join to.
        if epoch != self.epoch || self.job != nil {
            converter = nil
            tail = 0
        }
        self.epoch = epoch
        self.job = job
        self.gain = gain
        self.bitrate = bitrate
        hasBegun = false
    }

    /// Converts and appends samples of the job. Returns false if they are no longer wanted.
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
            done += step.consumed
            if !put(step.produced) { return false }
        }
        return true
    }

    /// Ends the job. Returns whether a tail of it is still to come, or nil if the job is no longer wanted.
    mutating func end() throws(DecodingFault) -> Bool? {
        if !hasBegun {
            guard try drain() else { return nil }
            // Not enough for a single frame; after a seek that means the end.
            guard hasBegun || job?.start != 0 else { throw .broken("it contains no sound") }
        }
        job = nil
        tail = converter?.owed ?? 0
        return tail > 0
    }

    /// Ends the tail, because nothing follows.
    mutating func endTail(_ epoch: Int) {
        guard epoch == self.epoch, job == nil else { return }
        if (try? drain()) == nil || tail > 0, let start = output.baseAddress {
            // Without memory for the rest, this is the end.
            tail = 0
            _ = pipeline.appendTail(start, frames: 0, isEnd: true, epoch: epoch)
        }
    }

    /// Appends everything left in the converter, which cannot be used afterwards.
    private mutating func drain() throws(DecodingFault) -> Bool {
        guard let converter, let start = output.baseAddress else { return true }
        self.converter = nil
        while case let count = try converter.drain(into: start, capacity: output.count / format.channels), count > 0 {
            if !put(count) { return false }
        }
        return true
    }

    /// Appends converted frames, first to the previous item, then to the current one.
    private mutating func put(_ frames: Int) -> Bool {
        guard frames > 0, let start = output.baseAddress else { return true }
        let old = min(tail, frames)
        if old > 0 {
            tail -= old
            guard pipeline.appendTail(start, frames: old, isEnd: tail == 0, epoch: epoch) else { return false }
        }
        guard frames > old, let job else { return true }
        if !hasBegun {
            guard pipeline.begin(job, format: format, seconds: job.start, gain: gain, bitrate: bitrate) else {
                return false
            }
            hasBegun = true
        }
        return pipeline.append(start + old * format.channels, frames: frames - old, of: job)
    }
}
