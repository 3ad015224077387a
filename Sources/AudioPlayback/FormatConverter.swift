/// Turns a stream of samples of one format into another: channels are mixed, then the rate is changed.
///
/// N frames become N × the ratio of the rates, rounded, however they were cut into pieces. Equal formats pass bit by bit.
/// One thread uses it at a time.
final class FormatConverter {
    let source: AudioFormat
    let target: AudioFormat
    private let mix: ChannelMix
    /// Absent where the rates are the same.
    private let resampler: Resampler?
    private let mixed: UnsafeMutablePointer<Int16>
    private var taken = 0
    private var given = 0

    /// judgement: frames that are mixed at a time; it bounds the scratch memory.
    private static let block = 4_096

    /// Throws ``DecodingFault/broken(_:)`` when there is no memory for it.
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

    /// Frames of the output that belong to what was taken and have not come yet.
    var owed: Int { max(0, Int((Double(taken) * Double(target.rate) / Double(source.rate)).rounded()) - given) }

    /// Takes up to `frames` of `input`, and puts up to `capacity` frames into `output`; both may be 0 by turns.
    func convert(
        _ input: UnsafePointer<Int16>,
        frames: Int,
        into output: UnsafeMutablePointer<Int16>,
        capacity: Int
    ) throws(DecodingFault) -> (taken: Int, given: Int) {
        let step: (taken: Int, given: Int)
        if let resampler {
            let count = min(frames, Self.block)
            mix.apply(input, frames: count, into: mixed)
            step = try resampler.process(mixed, frames: count, into: output, capacity: capacity)
        } else {
            let count = min(frames, capacity)
            mix.apply(input, frames: count, into: output)
            step = (count, count)
        }
        taken += step.taken
        given += step.given
        return step
    }

    /// There is no more input: what is left of the output, 0 frames at its end. Nothing can be converted after it.
    func drain(into output: UnsafeMutablePointer<Int16>, capacity: Int) throws(DecodingFault) -> Int {
        guard let resampler else { return 0 }
        let count = try resampler.drain(into: output, capacity: capacity)
        given += count
        return count
    }
}
