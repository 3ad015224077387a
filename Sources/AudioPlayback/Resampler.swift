import CSoxr

/// The owner of a libsoxr handle: changes the rate of interleaved 16 bit samples, at its high quality (20 bits).
///
/// Without dither, so that the same samples always give the same. One thread uses it at a time; nothing of it blocks.
final class Resampler {
    let channels: Int
    private let handle: OpaquePointer

    /// Throws ``DecodingFault/broken(_:)`` when the library has no memory for it.
    init(from source: Int, to target: Int, channels: Int) throws(DecodingFault) {
        var failure: soxr_error_t?
        var types = soxr_io_spec(SOXR_INT16_I, SOXR_INT16_I)
        types.flags |= UInt(SOXR_NO_DITHER)
        var quality = soxr_quality_spec(UInt(SOXR_20_BITQ), 0)
        // One thread: its own, OpenMP's, would be woken for each block.
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

    /// Takes up to `frames` of `input`, and puts up to `capacity` frames into `output`.
    ///
    /// What was taken comes out later, behind a delay, all of it once ``drain(into:capacity:)`` is called.
    func process(
        _ input: UnsafePointer<Int16>,
        frames: Int,
        into output: UnsafeMutablePointer<Int16>,
        capacity: Int
    ) throws(DecodingFault) -> (taken: Int, given: Int) {
        var taken = 0
        var given = 0
        let failure = soxr_process(handle, input, frames, &taken, output, capacity, &given)
        guard failure == nil else { throw .broken(Self.words(failure)) }
        return (taken, given)
    }

    /// There is no more input: what is left of the output, 0 frames at its end.
    func drain(into output: UnsafeMutablePointer<Int16>, capacity: Int) throws(DecodingFault) -> Int {
        var given = 0
        let failure = soxr_process(handle, nil, 0, nil, output, capacity, &given)
        guard failure == nil else { throw .broken(Self.words(failure)) }
        return given
    }

    private static func words(_ failure: soxr_error_t?) -> String {
        "the resampler does not go on (\(failure.map { String(cString: $0) } ?? "no reason given"))"
    }
}
