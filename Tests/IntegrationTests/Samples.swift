import Foundation
import TestSupport
import Testing

/// 16-bit sound samples, from reference decoders and from the service's output.
enum Samples {
    /// The files of media/ with the same format, in the order in which the service finds them.
    static let tunes = ["harbour-chimes.mp3", "morning-tune.mp3", "quiet-waltz.mp3"].map(media)
    /// A mono file with another sample rate.
    static let announcement = media("welcome-announcement.wav")

    /// A track of a few minutes.
    static let walk = Products.repository("tracks/city-walk.gpx")

    static func media(_ name: String) -> String { Products.repository("media/\(name)") }

    /// Returns the samples from mpg123 for an MP3, and from sox for other files.
    static func reference(_ path: String) async throws -> Data {
        path.hasSuffix(".mp3")
            ? try await Tool.run(Programs.mpg123, "-q", "-s", "-e", "s16", path)
            : try await Tool.run(Programs.sox, "-D", path, "-t", "raw", "-e", "signed", "-b", "16", "-")
    }

    static func reference(_ paths: [String]) async throws -> Data {
        var all = Data()
        for path in paths { all += try await reference(path) }
        return all
    }

    /// Returns the samples of a WAV file and checks the sizes in its header.
    static func wav(_ path: String) throws -> (samples: Data, rate: Int, channels: Int) {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        func number(_ offset: Int, _ count: Int) -> Int {
            data[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func name(_ offset: Int) -> String { String(decoding: data[offset..<offset + 4], as: UTF8.self) }
        try #require(data.count > 44, "\(path) is not a WAV file")
        try #require(name(0) == "RIFF", "\(path) is not a WAV file")
        try #require(name(8) == "WAVE", "\(path) is not a WAV file")
        #expect(number(4, 4) == data.count - 8, "\(path): the header states another file size")
        var offset = 12
        var format = (rate: 0, channels: 0)
        while offset + 8 <= data.count, name(offset) != "data" {
            if name(offset) == "fmt " { format = (number(offset + 12, 4), number(offset + 10, 2)) }
            offset += 8 + number(offset + 4, 4)
        }
        try #require(offset + 8 <= data.count, "\(path) has no samples")
        #expect(
            number(offset + 4, 4) == data.count - offset - 8,
            "\(path): the header states another number of samples"
        )
        return (data.dropFirst(offset + 8), format.rate, format.channels)
    }

    /// Expects equal samples, and reports the first difference without printing them.
    static func expectSame(
        _ samples: Data,
        _ reference: Data,
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard samples != reference else { return }
        let first = zip(samples, reference).enumerated().first { $1.0 != $1.1 }?.offset
        Issue.record(
            "\(what): \(samples.count) bytes instead of \(reference.count), first difference at \(first ?? -1)",
            sourceLocation: sourceLocation
        )
    }

    /// Returns the correlation of `part` with `whole` from `offset`: 1 if they are equal except for their volume.
    static func correlation(of part: Data, in whole: Data, at offset: Int) -> Double {
        var (product, left, right) = (0.0, 0.0, 0.0)
        part.withUnsafeBytes { part in
            whole.withUnsafeBytes { whole in
                for index in stride(from: 0, to: min(part.count, whole.count - offset) - 1, by: 2) {
                    let a = Double(part.loadUnaligned(fromByteOffset: index, as: Int16.self))
                    let b = Double(whole.loadUnaligned(fromByteOffset: offset + index, as: Int16.self))
                    product += a * b
                    left += a * a
                    right += b * b
                }
            }
        }
        return product / (left * right).squareRoot()
    }
}
