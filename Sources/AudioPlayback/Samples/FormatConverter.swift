import MediaFiles

/// Converts a stream of samples to another format: mixes the channels, then changes the rate.
///
/// N frames become N × the ratio of the rates, rounded, regardless of how they are split into blocks. Equal formats pass
/// unchanged. Only one thread may use it at a time.
final class FormatConverter {
    let source: AudioFormat
    let target: AudioFormat
    private let mix: ChannelMix
    /// Nil if the rates are equal.
    private let resampler: Resampler?
    private let mixed: UnsafeMutablePointer<Int16>
    private var consumed = 0
    private var produced = 0

    /// Tuned: the frames mixed at a time, which bounds the scratch memory.
    private static let block = 4_096

    /// Creates a converter.
    ///
    /// - Throws: ``DecodingFault/broken(_:)`` if it cannot be allocated.
    init(from source: AudioFormat, to target: AudioFormat) throws(DecodingFault) {
        resampler =
            if source.rate == target.rate {
                nil
            } else {
                try Resampler(from: source.rate, to: target.rate, channels: target.channels)
            }
        mix = ChannelMix(from: source.channels, to: target.channels)
        mixed = .allocate(capacity: Self.block * target.channels)
        self.source = source
        self.target = target
    }

    deinit { mixed.deallocate() }

    /// The frames of output still to come for the input consumed so far.
    var owed: Int { max(0, Int((Double(consumed) * Double(target.rate) / Double(source.rate)).rounded()) - produced) }

    /// Consumes up to `frames` of `input` and produces up to `capacity` frames of `output`. Either may be 0 in a call.
    func convert(
        _ input: UnsafePointer<Int16>,
        frames: Int,
        into output: UnsafeMutablePointer<Int16>,
        capacity: Int
    ) throws(DecodingFault) -> (consumed: Int, produced: Int) {
        let step: (consumed: Int, produced: Int)
        if let resampler {
            let count = min(frames, Self.block)
            mix.apply(input, frames: count, into: mixed)
            step = try resampler.process(mixed, frames: count, into: output, capacity: capacity)
        } else {
            let count = min(frames, capacity)
            mix.apply(input, frames: count, into: output)
            step = (count, count)
        }
        consumed += step.consumed
        produced += step.produced
        return step
    }

    /// Ends the input and returns the rest of the output; 0 frames at its end. Convert nothing afterwards.
    func drain(into output: UnsafeMutablePointer<Int16>, capacity: Int) throws(DecodingFault) -> Int {
        guard let resampler else { return 0 }
        let count = try resampler.drain(into: output, capacity: capacity)
        produced += count
        return count
    }
}
