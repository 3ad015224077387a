import MediaFiles

/// A ring buffer of samples in one format, between decoder and output. Frames count from the start of the pipeline.
///
/// It is only used with the pipeline's lock held, and only copies.
final class SampleRing {
    let format: AudioFormat
    let capacity: Int
    /// The frames that the output has taken, and those that the decoder has appended.
    private(set) var read: Int
    private(set) var written: Int
    /// False while the ring rests: it was filled, and less than half of it is free again.
    private var isFilling = true
    private let memory: UnsafeMutablePointer<Int16>

    /// Tuned: the seconds decoded ahead. Half of them are refilled in one burst, so disk and decoder rest for four seconds
    /// at a time and may take as long to respond.
    static let seconds = 8
    /// Tuned: the most memory, for many channels at a high rate; 2.7 s of the largest format that is played.
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
    private var free: Int { capacity - count }
    var isHalfFree: Bool { free >= capacity / 2 }

    /// Returns how many of `frames` frames to append now; 0 while the ring is full or rests.
    func room(for frames: Int) -> Int {
        guard isFilling || isHalfFree else { return 0 }
        let count = min(frames, free)
        isFilling = count > 0
        return count
    }

    /// Ends a rest, because other samples follow.
    func refill() { isFilling = true }

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

    /// Takes frames out and adds them to those in `samples`.
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

    /// Discards the frames from `frame` on that the output has not taken.
    func truncate(to frame: Int) { written = max(read, min(written, frame)) }
}
