import Foundation
import TestSupport
import Testing

@testable import AudioPlayback
@testable import MediaFiles

/// The samples of a source from a frame to its end, decoded without a player.
struct Decoding {
    /// The format of the first samples.
    private(set) var format: AudioFormat
    private(set) var samples: [Int16] = []
    /// The number of changes of the format.
    private(set) var changes = 0
    private(set) var fault: DecodingFault?

    /// Decodes the file from `frame` to its end, or until there are `limit` samples.
    ///
    /// - Parameter readsFirst: whether something is decoded before the seek.
    /// - Throws: the error with which the file or its content is refused.
    init(_ path: String, from frame: Int = 0, readsFirst: Bool = false, atMost limit: Int = .max) throws {
        let source = try openSampleSource(MediaFile(path: path))
        format = source.format
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 16)
        defer { buffer.deallocate() }
        if readsFirst { _ = try source.read(into: UnsafeMutableBufferPointer(rebasing: buffer[..<2_000])) }
        if frame > 0 { try source.seek(toFrame: frame) }
        do {
            reading: while samples.count < limit {
                switch try source.read(into: buffer) {
                case .frames(let count):
                    samples += UnsafeBufferPointer(rebasing: buffer[..<(count * source.format.channels)])
                case .changed: changes += 1
                case .end: break reading
                }
            }
            fault = source.fault
        } catch { fault = error }
    }

    var frames: Int { samples.count / format.channels }
}

/// Records where two runs of samples differ by more than `tolerance`, without printing them.
func expectSame(
    _ samples: ArraySlice<Int16>,
    _ reference: ArraySlice<Int16>,
    tolerance: Int = 0,
    _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    // Pointers, since there are millions of samples and tests are not optimised.
    let (first, most) = samples.withUnsafeBufferPointer { samples in
        reference.withUnsafeBufferPointer { reference in
            var (first, most) = (-1, 0)
            for index in 0..<min(samples.count, reference.count) where samples[index] != reference[index] {
                let distance = abs(Int(samples[index]) - Int(reference[index]))
                if distance > tolerance, first < 0 { first = index }
                most = max(most, distance)
            }
            return (first, most)
        }
    }
    if samples.count == reference.count, first < 0 { return }
    Issue.record(
        """
        \(what): \(samples.count) samples instead of \(reference.count), the first difference at \(first), \
        at most \(most) apart
        """,
        sourceLocation: sourceLocation
    )
}
