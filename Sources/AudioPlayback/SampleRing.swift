/// Samples of one format between the decoder and the output, counted in frames since the pipeline began.
///
/// It is only used with the pipeline's lock held; copying is all that happens then.
final class SampleRing {
    let format: AudioFormat
    let capacity: Int
    /// Frames that the output has taken, and frames that the decoder has put in.
    private(set) var read: Int
    private(set) var written: Int
    private let memory: UnsafeMutablePointer<Int16>

    /// judgement: seconds that are decoded ahead; half of it is refilled in one burst, so that the disk and the decoder
    /// rest for four seconds at a time, and may take as long to answer.
    static let seconds = 8
    /// judgement: what many channels at a high rate may take; 2.7 s of the most that is played
    private static let mostBytes = 16 << 20

    init(format: AudioFormat, at frame: Int = 0, seconds: Int = SampleRing.seconds) {
        self.format = format
        capacity = min(format.rate * seconds, Self.mostBytes / format.bytesPerFrame)
        read = frame
        written = frame
        memory = .allocate(capacity: capacity * format.channels)
    }

    deinit { memory.deallocate() }

    var count: Int { written - read }
    var free: Int { capacity - count }

    func append(_ samples: UnsafePointer<Int16>, frames: Int) {
        var done = 0
        while done < frames {
            let start = (written + done) % capacity
            let run = min(frames - done, capacity - start)
            (memory + start * format.channels)
                .update(from: samples + done * format.channels, count: run * format.channels)
            done += run
        }
        written += frames
    }

    func take(_ frames: Int, into samples: UnsafeMutablePointer<Int16>) {
        var done = 0
        while done < frames {
            let start = (read + done) % capacity
            let run = min(frames - done, capacity - start)
            (samples + done * format.channels)
                .update(from: memory + start * format.channels, count: run * format.channels)
            done += run
        }
        read += frames
    }

    /// Takes frames out and adds them to the samples that are there.
    func mix(_ frames: Int, into samples: UnsafeMutablePointer<Int16>) {
        var done = 0
        while done < frames {
            let start = (read + done) % capacity
            let run = min(frames - done, capacity - start)
            AudioPlayback.mix(
                memory + start * format.channels,
                into: samples + done * format.channels,
                count: run * format.channels
            )
            done += run
        }
        read += frames
    }

    func skip(_ frames: Int) { read += frames }

    /// Forgets what the output has not taken, from `frame` on.
    func truncate(to frame: Int) { written = max(read, min(written, frame)) }
}
