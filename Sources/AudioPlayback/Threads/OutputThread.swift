import MediaFiles
import SystemSupport

/// The thread that plays samples: it only copies, scales and calls libao.
///
/// It may hang in libao forever. The player then abandons it and starts another. If it returns, it closes its device and
/// ends without playing anything.
enum OutputThread {
    /// Starts the thread. Returns false if the system has none.
    fileprivate static func start(_ number: Int, _ pipeline: Pipeline, _ opener: DeviceOpener) -> Bool {
        (try? detachThread(named: "audio output") {
            setNiceness(-11)  // sound must not stutter on a busy machine; sound servers use the same value
            var session = OutputSession(number, pipeline, opener)
            session.run()
            pipeline.retired(thread: number)
        }) != nil
    }
}

private struct OutputSession: ~Copyable {
    let number: Int
    let pipeline: Pipeline
    let opener: DeviceOpener
    private var device: OpenDevice?
    private var output: AudioOutput?
    /// Room for one step in the open format, allocated only when a device is opened.
    private var samples = UnsafeMutableBufferPointer<Int16>(start: nil, count: 0)

    init(_ number: Int, _ pipeline: Pipeline, _ opener: DeviceOpener) {
        self.number = number
        self.pipeline = pipeline
        self.opener = opener
    }

    mutating func run() {
        while true {
            switch pipeline.nextOrder(thread: number, device: device, into: samples.baseAddress) {
            case .open(let format, let reach): if !open(format, reach) { return }
            case .play(let frames, let gain): if !play(frames, gain) { return }
            case .close(let silence): if !close(silence) { return }
            case .retire:
                release()
                return
            }
        }
    }

    /// Returns false if the thread has been abandoned; so do the functions below.
    private mutating func open(_ format: AudioFormat, _ reach: DeviceReach) -> Bool {
        do {
            (device, output) = try opener.open(format, reach)
        } catch {
            return pipeline.notOpened(thread: number, reason: error.reason)
        }
        guard let device else { return true }
        let frames = device.kind.stepFrames(rate: format.rate, latency: pipeline.latency)
        samples = .allocate(capacity: frames * format.channels)
        if pipeline.opened(thread: number, device) { return true }
        release()
        return false
    }

    private mutating func play(_ frames: Int, _ gain: Int32) -> Bool {
        guard let output, let device, let start = samples.baseAddress else { return true }
        scale(start, count: frames * device.format.channels, by: gain)
        if output.play(start, bytes: frames * device.format.bytesPerFrame) {
            let buffer = device.kind == .live ? device.format.frames(pipeline.latency) : 0
            if pipeline.played(thread: number, frames: frames, buffer: buffer, rate: device.format.rate) { return true }
            release()
            return false
        }
        let isOurs = pipeline.lost(thread: number, code: output.failure)
        release()
        return isOurs && pipeline.closed(thread: number)
    }

    private mutating func close(_ silence: Int) -> Bool {
        if let output, let device, silence > 0, let start = samples.baseAddress {
            var left = silence
            let step = samples.count / device.format.channels
            samples.update(repeating: 0)
            while left > 0, output.play(start, bytes: min(left, step) * device.format.bytesPerFrame) { left -= step }
        }
        release()
        return pipeline.closed(thread: number)
    }

    private mutating func release() {
        output?.close()
        output = nil
        device = nil
        samples.deallocate()
        samples = UnsafeMutableBufferPointer(start: nil, count: 0)
    }
}

extension Pipeline {
    /// Tuned: the most output threads that may hang; each holds memory and a connection.
    private static var mostStuckOutputs: Int { 4 }

    /// Starts an output thread, unless one works or too many hang. Returns false if the system has no thread.
    func startOutputIfNeeded(_ opener: DeviceOpener) -> Bool {
        startThread(.output, limit: Self.mostStuckOutputs) { OutputThread.start($0, self, opener) } != .noThread
    }
}
