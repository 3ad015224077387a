import SystemSupport

/// The speed of a running attempt over its last seconds.
struct TransferRate {
    /// Tuned: evens out bursts, and still follows a change of the network.
    private static let window = Duration.seconds(10)
    /// Tuned: the speed of a shorter time says little about the rest.
    private static let shortest = Duration.seconds(1)
    private static let spacing = Duration.milliseconds(500)

    /// Numbers of bytes, oldest first, at least ``spacing`` apart except for the last one.
    private var samples: [(time: Duration, bytes: Int64)]

    /// Begins to measure at `time` with `bytes`, which do not count.
    init(bytes: Int64, at time: Duration) { samples = [(time, bytes)] }

    /// Records the number of bytes. A smaller number than before means that the file is transferred again.
    mutating func note(_ bytes: Int64, at time: Duration) {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        if samples.count > 1, samples[samples.count - 1].time - samples[samples.count - 2].time < Self.spacing {
            samples.removeLast()
        }
        samples.append((time, bytes))
        samples.removeFirst(firstNeeded(at: time))
    }

    /// Returns the bytes a second; `nil` in the first second.
    func bytesPerSecond(at time: Duration) -> Double? {
        guard let last = samples.last else { return nil }
        let first = samples[firstNeeded(at: time)]
        guard time - first.time >= Self.shortest else { return nil }
        return Double(last.bytes - first.bytes) / (time - first.time).seconds
    }

    /// The index of the newest sample at the beginning of the window, or of the oldest one.
    private func firstNeeded(at time: Duration) -> Int {
        samples.lastIndex { time - $0.time >= Self.window } ?? 0
    }
}
