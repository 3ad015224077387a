import BackgrounderAPI
import CMPG123
import Glibc

/// An item that libmpg123 reads: gapless, at its own rate, 16 bit as the mpg123 program gives it.
final class MP3Source: SampleSource {
    private(set) var format: AudioFormat
    private(set) var fault: DecodingFault?
    let replayGain: ReplayGain
    private let window: MediaWindow
    private let handle: OpaquePointer
    /// What is decoded and found no room, from `taken` on.
    private var pending: [Int16] = []
    private var taken = 0
    /// Frames of another format, which is believed when enough of them have come.
    private var candidate: (format: AudioFormat, frames: Int, bytes: Int, samples: [Int16])?
    /// The candidate is believed, and becomes the format when what came before it has been handed over.
    private var isChanging = false
    private var position = 0
    private var isScanned = false
    /// Frames that an Info header promises; without one the length is an estimate, and promises nothing.
    private let promisedFrames: Int?
    private var trail: MPEGFrameTrail
    private var changes = 0

    /// judgement: bytes of junk that are skipped to find the next frame; the library's own limit of 1,024 ends an item
    /// at any hole, and no limit runs for minutes on a file of zeros.
    private static let junkLimit = 1 << 20
    /// judgement: behind damage, a piece of sound may look like the header of a frame of another rate.
    private static let framesToBelieve = 3
    /// judgement: in one file; more of them are damage, and each would open the device again.
    static let mostChanges = 16
    /// judgement: more than any picture has. The library would keep the tag in memory.
    private static let largestTag = 1 << 24
    /// Frames before the one that is sought, whose bits and overlaps it needs: the 255 bytes that a frame of MPEG 2 may
    /// borrow are 24 frames of 8 kbit/s; the library's own 4 give noise in many quiet files of one channel.
    private static let framesToPrime = 32
    private static let isLibraryReady = mpg123_init() == 0

    /// - Parameter range: where it lies in the file; everywhere in it, if nothing is said.
    init(_ file: MediaFile, _ range: Range<Int>? = nil) throws(DecodingFault) {
        guard Self.isLibraryReady, let handle = mpg123_new(nil, nil) else { throw .broken("libmpg123 does not start") }
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
        let length = Int(mpg123_sample_length(handle))
        promisedFrames = delay >= 0 && length > 0 ? length : nil
    }

    deinit {
        mpg123_close(handle)
        mpg123_delete(handle)
    }

    private static func open(_ handle: OpaquePointer, _ window: MediaWindow) throws(DecodingFault) -> AudioFormat {
        func set(_ parameter: mpg123_parms, _ value: Int) {
            mpg123_set_number(handle, CInt(parameter.rawValue), value)
        }
        set(MPG123_ADD_FLAGS, Int(MPG123_GAPLESS.rawValue) | Int(MPG123_QUIET.rawValue))
        set(MPG123_REMOVE_FLAGS, Int(MPG123_AUTO_RESAMPLE.rawValue))
        if window.file.id3v2Size(at: window.range.lowerBound) ?? 0 > largestTag {
            set(MPG123_ADD_FLAGS, Int(MPG123_SKIP_ID3V2.rawValue))
        }
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
        if window.isOpened(by: handle), let format = try currentFormat(handle) { return format }
        throw window.failure.map { .unreadable(systemMessage($0)) } ?? .unrecognised
    }

    private static func currentFormat(_ handle: OpaquePointer) throws(DecodingFault) -> AudioFormat? {
        var rate = 0
        var channels: CInt = 0
        var encoding: CInt = 0
        guard mpg123_getformat(handle, &rate, &channels, &encoding) == 0 else { return nil }
        return try AudioFormat(rate: rate, channels: Int(channels))
    }

    func seek(toFrame frame: Int) throws(DecodingFault) {
        pending = []
        taken = 0
        candidate = nil
        isChanging = false
        trail.jump()
        scan()
        let length = Int(mpg123_sample_length(handle))
        let target = min(max(0, frame), max(0, length))
        let reached = mpg123_seek_sample(handle, Int64(target))
        guard reached >= 0 else { throw .broken(words) }
        position = Int(reached)
    }

    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        var filled = 0
        while true {
            let count = min(pending.count - taken, (samples.count - filled) / format.channels * format.channels)
            if count > 0, let to = samples.baseAddress {
                pending.withUnsafeBufferPointer { from in
                    if let from = from.baseAddress { (to + filled).update(from: from + taken, count: count) }
                }
                taken += count
                filled += count
            }
            if taken < pending.count || samples.count - filled < format.channels { break }
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
        guard changes <= Self.mostChanges else { throw .changesTooOften }
        position = position * new.format.rate / format.rate
        format = new.format
        pending = new.samples
        taken = 0
        return .changed
    }

    /// Decodes until there is something new or another format is to be adopted. Returns how many samples went into `room`;
    /// what is more is in `pending`. `nil` at the end.
    private func decodeFrame(into room: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> Int? {
        while true {
            var audio: UnsafeMutablePointer<UInt8>?
            var bytes = 0
            let result = mpg123_next_frame(handle, &audio, &bytes)
            guard result == 0 || result == MPG123_NEW_FORMAT.rawValue else {
                // Its words at the end of the file are those of an error that is none.
                if result != MPG123_DONE.rawValue { fault = .broken(words) }
                return nil
            }
            // Not mpg123_framedata: it knows the frame only before it is decoded.
            let offset = window.range.lowerBound + Int(mpg123_frame_offset(handle))
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
                taken = 0
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

    /// It was no frame, but a piece of sound that looked like one.
    private func refuseCandidate() {
        guard let refused = candidate else { return }
        candidate = nil
        trail.refuse(bytes: refused.bytes)
        fault = .damaged(skippedBytes: trail.skippedBytes)
    }

    /// A file whose header promised more frames than came, or that has something else behind its frames.
    ///
    /// Where all came that was promised, nothing is missing, whatever follows it.
    private func noteEnd() {
        if let failure = window.failure {
            fault = .unreadable(systemMessage(failure))
        } else if let promisedFrames, position >= promisedFrames {
            return
        } else if let promisedFrames, fault == nil {
            fault = .truncated(frames: position, of: promisedFrames)
        } else if fault == nil || trail.skippedBytes > 0 {
            let end = trail.faultAtEnd() ?? fault
            // What is missing of the last frame is not all that is missing.
            if let promisedFrames, case .cut = end {
                fault = .truncated(frames: position, of: promisedFrames)
            } else {
                fault = end
            }
        }
    }

    /// Frames of the whole item. Reads all of it where no header states the number.
    var length: Int {
        if let promisedFrames { return promisedFrames }
        scan()
        return max(0, Int(mpg123_sample_length(handle)))
    }

    private func scan() {
        if !isScanned { isScanned = mpg123_scan(handle) == 0 }
    }

    func metadata() throws(DecodingFault) -> Metadata {
        var metadata = Metadata(format: format, codec: "mp3")
        mpg123_scan(handle)
        let length = Int(mpg123_sample_length(handle))
        if length >= 0 { metadata.frames = length }
        var old: UnsafeMutablePointer<mpg123_id3v1>?
        var new: UnsafeMutablePointer<mpg123_id3v2>?
        guard mpg123_meta_check(handle) & CInt(MPG123_ID3) != 0, mpg123_id3(handle, &old, &new) == 0 else {
            return metadata
        }
        if let tag = new?.pointee {
            metadata.title = text(tag.title)
            metadata.artist = text(tag.artist)
            metadata.album = text(tag.album)
        }
        if let tag = old?.pointee {
            metadata.title = metadata.title ?? latin1(tag.title)
            metadata.artist = metadata.artist ?? latin1(tag.artist)
            metadata.album = metadata.album ?? latin1(tag.album)
        }
        return metadata
    }

    private var words: String { String(cString: mpg123_strerror(handle)) }

    private func text(_ string: UnsafeMutablePointer<mpg123_string>?) -> String? {
        guard let string = string?.pointee, let bytes = string.p, string.fill > 1 else { return nil }
        return Metadata.line(String(cString: bytes))
    }

    /// The fields of ID3v1 are 30 bytes of Latin-1, ended by a zero or by their length.
    private func latin1<Field>(_ field: Field) -> String? {
        withUnsafeBytes(of: field) { bytes in
            Metadata.line(String(String.UnicodeScalarView(bytes.prefix { $0 != 0 }.map(Unicode.Scalar.init))))
        }
    }
}

extension MediaWindow {
    /// Makes this what libmpg123 reads: it must live as long as the handle.
    func isOpened(by handle: OpaquePointer) -> Bool {
        mpg123_use_reader(
            handle,
            pointer,
            { user, memory, count in
                guard let window = MediaWindow.behind(user), let memory else { return -1 }
                return window.read(into: memory, count: count)
            },
            { user, offset, whence in off_t(MediaWindow.behind(user)?.seek(Int(offset), whence) ?? -1) }
        ) == 0
    }
}
