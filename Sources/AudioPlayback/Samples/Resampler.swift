import CSoxr
import MediaFiles

/// Resamples interleaved 16-bit samples with libsoxr, at its high quality (20 bits).
///
/// It does not dither, so the output is deterministic. Only one thread may use it at a time; it never blocks.
final class Resampler {
    let channels: Int
    private let handle: OpaquePointer

    /// Creates a resampler between two rates in Hz.
    ///
    /// - Throws: ``DecodingFault/broken(_:)`` if the library cannot allocate it.
    init(from source: Int, to target: Int, channels: Int) throws(DecodingFault) {
        var failure: soxr_error_t?
        var types = soxr_io_spec(SOXR_INT16_I, SOXR_INT16_I)
        types.flags |= UInt(SOXR_NO_DITHER)
        var quality = soxr_quality_spec(UInt(SOXR_20_BITQ), 0)
        // One thread: OpenMP's workers would wake up for each block.
        var runtime = soxr_runtime_spec(1)
        let opened = soxr_create(
            Double(source),
            Double(target),
            UInt32(channels),
            &failure,
            &types,
            &quality,
            &runtime
        )
        guard let opened, failure == nil else { throw .broken(Self.words(failure)) }
        handle = opened
        self.channels = channels
    }

    deinit { soxr_delete(handle) }

    /// Consumes up to `frames` of `input` and produces up to `capacity` frames of `output`.
    ///
    /// The output is delayed; ``drain(into:capacity:)`` returns the rest.
    func process(
        _ input: UnsafePointer<Int16>,
        frames: Int,
        into output: UnsafeMutablePointer<Int16>,
        capacity: Int
    ) throws(DecodingFault) -> (consumed: Int, produced: Int) {
        var consumed = 0
        var produced = 0
        let failure = soxr_process(handle, input, frames, &consumed, output, capacity, &produced)
        guard failure == nil else { throw .broken(Self.words(failure)) }
        return (consumed, produced)
    }

    /// Ends the input and returns the rest of the output; 0 frames at its end.
    func drain(into output: UnsafeMutablePointer<Int16>, capacity: Int) throws(DecodingFault) -> Int {
        var produced = 0
        let failure = soxr_process(handle, nil, 0, nil, output, capacity, &produced)
        guard failure == nil else { throw .broken(Self.words(failure)) }
        return produced
    }

    private static func words(_ failure: soxr_error_t?) -> String {
        "the resampler failed (\(failure.map { String(cString: $0) } ?? "no reason given"))"
    }
}
