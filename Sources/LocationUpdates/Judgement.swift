/// The tuned constants of the location mode; docs/behaviour.md, Location, explains them.
///
/// Distances are in metres and times in seconds unless stated otherwise.
enum Judgement {
    // gpsd's model: eph = error × HDOP, a 95 % figure.
    static let rangeError = 19.0
    static let rangeErrorDGPS = 4.75
    /// Ratio of the 95 % circle to Core Location's 63 % circle, for a circular Gaussian: 2.448 σ / 1.414 σ.
    static let modelConfidence = 1.731
    /// The relative error within which an `eph` is taken for the model's.
    static let modelTolerance = 0.01
    /// HDOP has two decimals and gpsd prints three, so the model's `eph` is a whole multiple of a hundredth of the range error
    /// within this tolerance.
    static let modelGridTolerance = 0.0006
    static let rtkFixedAccuracy = 1.0
    static let rtkFloatAccuracy = 2.0
    static let gstAge = 1.5

    // Time.
    static let smallStepBack = 2.0
    static let speedLimit = 120.0
    static let speedFactor = 1.5
    static let agreeingFixes = 3
    static let gapOpensSegment = 60.0
    static let gapAfterReconnect = 10.0
    static let deviceSilence = 10.0

    // Movement.
    static let standingSpeed = 0.5
    static let jitterFactor = 2.0

    // Trips.
    static let stopRadius = 50.0
    static let stopTime = 600.0
    static let tripGap = 600.0

    // Quality.
    static let starvation = 30.0
    static let goodFixes = 3
    /// The period over which the fixes of a starved source are counted.
    static let countedTime = 60

    /// How long gpsd keeps a receiver open after its last client left (the constant in gpsd 3.22 is 60).
    static let receiverRelease = 61
    /// A larger difference between a receiver's date and the machine's clock is reported; NMEA weeks wrap at 1,024.
    static let dateDoubt = 7.0 * 86_400

    // gpsd's connection.
    static let silence = 5.0
    /// How long before reporting silence gpsd is asked for its receivers: it does not report when one disappears.
    static let inquiry = 0.5
    static let renewal = 30.0
    /// A connection that lasts this long is reported as established even if nothing was received on it.
    static let settling = 0.25
    /// Connecting is given up and retried after this time: the kernel's own retries become ever rarer.
    static let connecting = 5.0
    static let firstRetry = 0.25
    static let lastRetryLoopback = 1.0
    static let lastRetryRemote = 5.0
    static let lineLimit = 65_536

    // Replay.
    /// Longer pauses in a recording are skipped.
    static let longestPause = 3600.0
    static let nestingLimit = 64
    static let textLimit = 4096
    /// The longest tag or comment that is read, in bytes; bounds the memory.
    static let tokenLimit = 8 << 20

    // Recording.
    static let recordingLimit = 1 << 30
    /// The part of the file system that a recording leaves free.
    static let leastFreeSpace = 0.05
    /// Bytes after which the free space is checked again.
    static let spaceCheckInterval = 1 << 20

    /// Accepted points that wait in memory while the journal cannot be written.
    static let unsavedPoints = 10_000
    /// How many batches a source may be ahead of the manager.
    static let batchesAhead = 4
}
