import MediaFiles
import SystemSupport

/// The output thread's next step.
enum OutputOrder {
    case open(AudioFormat, DeviceReach)
    /// Scale the frames in the thread's own buffer by `gain` and hand them to the device.
    case play(frames: Int, gain: Int32)
    /// Play `silence` frames of silence, then close; a device that has not started to play yet needs them to be heard.
    case close(silence: Int)
    /// End: another thread has taken over, or the pipeline is shut down.
    case retire
}

enum OutputFailure: Hashable {
    /// The device took no more samples: the sound server disappeared or the disk is full. The error number is 0 if unknown.
    case lost(OpenDevice?, CInt)
    case notOpened(reason: String)
}

/// The contents of an output step.
struct StepContents {
    var music: Bool
    /// The token of the announcement in it.
    var announcement: Int?
}

extension OpenDevice.Kind {
    /// Returns the frames of one step.
    ///
    /// Tuned: live, pause and seek wait for at most one step, and a step is half of what the device holds, because the
    /// rest has to last until the next one. Paced, few wakeups, and as much as the decoder appends at a time. File, large,
    /// because it runs as fast as it can.
    func stepFrames(rate: Int, latency: Duration) -> Int {
        switch self {
        case .live: Int(Double(rate) * min(0.15, latency.seconds / 2))
        case .paced: rate * SampleRing.seconds / 2
        case .file: rate / 2
        }
    }
}
