/// The numbers of the location mode that are judgement or measurement and not law, in one place.
///
/// They come from BEHAVIOUR.md, Location; distances are metres, times seconds unless they say otherwise.
enum Judgement {
    // gpsd's model: eph = error × HDOP, a 95 % figure.
    static let rangeError = 19.0
    static let rangeErrorDGPS = 4.75
    /// From a 95 % circle to the 63 % one of Core Location, for a circular Gaussian: 2.448 σ / 1.414 σ.
    static let modelConfidence = 1.731
    /// The relative error within which an `eph` is the model's.
    static let modelTolerance = 0.01
    /// HDOP comes in hundredths and gpsd prints three decimals, so the model's `eph` is a whole multiple of a hundredth of
    /// the range error, within this.
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
    /// Fixes are counted over so long for a starved source.
    static let countedTime = 60

    /// How long gpsd keeps a receiver open after its last client has gone (gpsd 3.22: its constant is 60).
    static let receiverRelease = 61
    /// A receiver whose dates are further from the machine's clock is doubted; NMEA gives the week of 1,024 only.
    static let dateDoubt = 7.0 * 86_400

    // gpsd's connection.
    static let silence = 5.0
    /// So long before a silence is said, gpsd is asked whether it has a receiver at all: it does not tell when one vanishes.
    static let inquiry = 0.5
    static let renewal = 30.0
    /// A new connection that lasts so long is one, also where nothing has been said on it.
    static let settling = 0.25
    /// A host that does not answer is asked anew instead of waited for: the kernel's own repetitions come ever later.
    static let connecting = 5.0
    static let firstRetry = 0.25
    static let lastRetryLoopback = 1.0
    static let lastRetryRemote = 5.0
    static let lineLimit = 65_536

    // Replay.
    /// A longer pause in a recording is not waited for.
    static let longestPause = 3600.0
    static let nestingLimit = 64
    static let textLimit = 4096
    /// A single tag or comment that is longer is not read on, so that memory stays bounded.
    static let tokenLimit = 8 << 20

    // Recording.
    static let recordingLimit = 1 << 30
    /// Of the file system.
    static let leastFreeSpace = 0.05
    /// Bytes after which the free space is looked at again.
    static let spaceCheckInterval = 1 << 20

    /// Accepted points that wait in memory while the journal cannot be written.
    static let unsavedPoints = 10_000
    /// Batches that a source may be ahead of the manager.
    static let batchesAhead = 4
}
