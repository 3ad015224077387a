import CMPG123
import Glibc
import SystemSupport

/// A source that libmpg123 decodes: gapless, at its own rate, with the same 16-bit samples as the mpg123 program.
final class MP3Source: SampleSource {
    private(set) var format: AudioFormat
    private(set) var fault: DecodingFault?
    let replayGain: ReplayGain
    private let window: MediaWindow
    private let handle: OpaquePointer
    /// Decoded samples that did not fit into the caller's buffer, from `consumed` on.
    private var pending: [Int16] = []
    private var consumed = 0
    /// Frames in another format, which is accepted after enough of them.
    private var candidate: (format: AudioFormat, frames: Int, bytes: Int, samples: [Int16])?
    /// The candidate is accepted, and becomes the format once the samples before it have been read.
    private var isChanging = false
    private var position = 0
    private var isScanned = false
    /// The frames that an Info header states; nil without one, because the length is then only an estimate.
    private let promisedFrames: Int?
    private var trail: MPEGFrameTrail
    private var changes = 0

    /// Tuned: the bytes skipped to find the next frame. libmpg123's default of 1,024 ends an item at any hole; without a
    /// limit, a file of zeros takes minutes.
    static let junkLimit = 1 << 20
    /// Tuned: the frames before a change of format is accepted; after damage, sound may look like a header of another rate.
    static let framesToBelieve = 3
    /// Tuned: the largest ID3v2 tag that is parsed, larger than any with a picture; libmpg123 keeps it in memory.
    static let largestTag = 1 << 24
    /// The frames to decode before the target of a seek, which needs their bits and overlaps. A frame of MPEG 2 may borrow
    /// 255 bytes, which are 24 frames at 8 kbit/s. libmpg123's default of 4 gives noise in many quiet mono files.
    static let framesToPrime = 32
    static let isLibraryReady = mpg123_init() == 0

    /// Opens an MP3.
    ///
    /// - Parameter range: its range in the file; nil for the whole file.
    init(_ file: MediaFile, _ range: Range<Int>? = nil) throws(DecodingFault) {
        guard Self.isLibraryReady, let handle = mpg123_new(nil, nil) else {
            throw .broken("cannot initialize libmpg123")
        }
        let window = MediaWindow(file, range)
        do throws(DecodingFault) {
            format = try Self.open(handle, window)
        } catch {
            mpg123_close(handle)
            mpg123_delete(handle)
            throw error
        }
        self.window = window
        self.handle = handle
        replayGain = ReplayGain(mp3: handle, file)
        trail = MPEGFrameTrail(window)
        var delay = -1
        mpg123_getstate2(handle, CInt(MPG123_ENC_DELAY.rawValue), &delay, nil)
        let length = Int(cmpg123_length(handle))
        promisedFrames = delay >= 0 && length > 0 ? length : nil
    }

    deinit {
        mpg123_close(handle)
        mpg123_delete(handle)
    }

    private static func open(_ handle: OpaquePointer, _ window: MediaWindow) throws(DecodingFault) -> AudioFormat {
        configure(handle)
        if window.file.id3v2Size(at: window.range.lowerBound) ?? 0 > largestTag {
            cmpg123_set(handle, CInt(MPG123_ADD_FLAGS.rawValue), Int(MPG123_SKIP_ID3V2.rawValue))
        }
        if window.isOpened(by: handle), let format = try currentFormat(handle) { return format }
        throw window.failure.map { .unreadable(systemMessage($0)) } ?? .unrecognised
    }

    /// Makes a new handle decode without gaps, to 16-bit samples at the rate of the sound.
    static func configure(_ handle: OpaquePointer) {
        func set(_ parameter: mpg123_parms, _ value: Int) {
            cmpg123_set(handle, CInt(parameter.rawValue), value)
        }
        set(MPG123_ADD_FLAGS, Int(MPG123_GAPLESS.rawValue) | Int(MPG123_QUIET.rawValue))
        set(MPG123_REMOVE_FLAGS, Int(MPG123_AUTO_RESAMPLE.rawValue))
        set(MPG123_RESYNC_LIMIT, junkLimit)
        set(MPG123_PREFRAMES, framesToPrime)
        set(MPG123_VERBOSE, 0)
        var rates: UnsafePointer<CLong>?
        var count = 0
        mpg123_rates(&rates, &count)
        mpg123_format_none(handle)
        for rate in UnsafeBufferPointer(start: rates, count: count) {
            let channels = CInt(MPG123_MONO.rawValue | MPG123_STEREO.rawValue)
            mpg123_format(handle, rate, channels, CInt(MPG123_ENC_SIGNED_16.rawValue))
        }
    }

    static func currentFormat(_ handle: OpaquePointer) throws(DecodingFault) -> AudioFormat? {
        var rate = 0
        var channels: CInt = 0
        var encoding: CInt = 0
        guard mpg123_getformat(handle, &rate, &channels, &encoding) == 0 else { return nil }
        return try AudioFormat(rate: rate, channels: Int(channels))
    }

    func seek(toFrame frame: Int) throws(DecodingFault) {
        pending = []
        consumed = 0
        candidate = nil
        isChanging = false
        trail.jump()
        scan()
        let length = Int(cmpg123_length(handle))
        let target = min(max(0, frame), max(0, length))
        let reached = cmpg123_seek(handle, Int64(target))
        guard reached >= 0 else { throw .broken(words) }
        position = Int(reached)
    }

    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        var filled = 0
        while true {
            let count = min(pending.count - consumed, (samples.count - filled) / format.channels * format.channels)
            if count > 0, let to = samples.baseAddress {
                pending.withUnsafeBufferPointer { from in
                    if let from = from.baseAddress { (to + filled).update(from: from + consumed, count: count) }
                }
                consumed += count
                filled += count
            }
            if consumed < pending.count || samples.count - filled < format.channels { break }
            if isChanging, filled > 0 { break }
            if isChanging { return try adoptCandidate() }
            if let count = try decodeFrame(into: .init(rebasing: samples[filled...])) {
                filled += count
                continue
            }
            if filled > 0 { break }
            noteEnd()
            return .end
        }
        position += filled / format.channels
        return .frames(filled / format.channels)
    }

    private func adoptCandidate() throws(DecodingFault) -> SampleRead {
        isChanging = false
        guard let new = candidate else { return .frames(0) }
        candidate = nil
        changes += 1
        guard changes <= DecodingFault.mostChanges else { throw .changesTooOften }
        position = position * new.format.rate / format.rate
        format = new.format
        pending = new.samples
        consumed = 0
        return .changed
    }

    /// Decodes until there are samples or a new format. Returns the number of samples in `room`; the rest is in `pending`.
    /// Returns nil at the end.
    private func decodeFrame(into room: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> Int? {
        while true {
            var audio: UnsafeMutablePointer<UInt8>?
            var bytes = 0
            let result = cmpg123_decode_frame(handle, &audio, &bytes)
            guard result == 0 || result == MPG123_NEW_FORMAT.rawValue else {
                // At the end of the file the message is about an error that is not one.
                if result != MPG123_DONE.rawValue { fault = .broken(words) }
                return nil
            }
            // Not mpg123_framedata, which only knows a frame before it is decoded.
            let offset = window.range.lowerBound + Int(cmpg123_frame_offset(handle))
            if trail.frame(at: offset) { fault = .damaged(skippedBytes: trail.skippedBytes) }
            if trail.skippedBytes > Self.junkLimit { return nil }
            guard let audio, bytes > 0, let now = try Self.currentFormat(handle) else { continue }
            let count = bytes / MemoryLayout<Int16>.size
            let frame = audio.withMemoryRebound(to: Int16.self, capacity: count) {
                UnsafeBufferPointer(start: $0, count: count)
            }
            if now == format {
                refuseCandidate()
                let fitting = min(count, room.count / format.channels * format.channels)
                _ = room.update(fromContentsOf: frame[..<fitting])
                pending.removeAll(keepingCapacity: true)
                pending.append(contentsOf: frame[fitting...])
                consumed = 0
                return fitting
            }
            if candidate?.format != now {
                refuseCandidate()
                candidate = (now, 0, 0, [])
            }
            candidate?.frames += 1
            candidate?.bytes += trail.frameBytes
            candidate?.samples.append(contentsOf: frame)
            isChanging = candidate?.frames ?? 0 >= Self.framesToBelieve
            if isChanging { return 0 }
        }
    }

    /// Rejects the candidate: it was sound that looked like a frame.
    private func refuseCandidate() {
        guard let refused = candidate else { return }
        candidate = nil
        trail.refuse(bytes: refused.bytes)
        fault = .damaged(skippedBytes: trail.skippedBytes)
    }

    /// Records a fault if the header states more frames than there were, or if other bytes follow the frames.
    ///
    /// If all stated frames were there, nothing is missing, even if other bytes follow.
    private func noteEnd() {
        if let failure = window.failure {
            fault = .unreadable(systemMessage(failure))
        } else if let promisedFrames, position >= promisedFrames {
            return
        } else if let promisedFrames, fault == nil {
            fault = .truncated(frames: position, of: promisedFrames)
        } else if fault == nil || trail.skippedBytes > 0 {
            let end = trail.faultAtEnd() ?? fault
            // More is missing than the rest of the last frame.
            if let promisedFrames, case .cut = end {
                fault = .truncated(frames: position, of: promisedFrames)
            } else {
                fault = end
            }
        }
    }

    /// The number of frames. Reads the whole file if no header states it.
    var length: Int {
        if let promisedFrames { return promisedFrames }
        scan()
        return max(0, Int(cmpg123_length(handle)))
    }

    private func scan() {
        if !isScanned { isScanned = mpg123_scan(handle) == 0 }
    }

    func metadata() throws(DecodingFault) -> Metadata {
        var metadata = Metadata(format: format, codec: "mp3")
        mpg123_scan(handle)
        let length = Int(cmpg123_length(handle))
        if length >= 0 { metadata.frames = length }
        metadata.addTags(mp3: handle)
        return metadata
    }

    var bitrate: Int? { mp3Bitrate(handle, bytes: window.range.count, frames: promisedFrames, rate: format.rate) }

    private var words: String { String(cString: mpg123_strerror(handle)) }
}
