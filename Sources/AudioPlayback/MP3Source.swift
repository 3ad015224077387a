import CMPG123

/// An item that libmpg123 reads: gapless, at its own rate, 16 bit as the mpg123 program gives it.
final class MP3Source: SampleSource {
    private(set) var format: AudioFormat
    private(set) var fault: DecodingFault?
    private let file: MediaFile
    private let handle: OpaquePointer
    /// What is decoded and not yet taken, from `taken` on.
    private var pending: [Int16] = []
    private var taken = 0
    /// Frames of another format, which is believed when enough of them have come.
    private var candidate: (format: AudioFormat, frames: Int, samples: [Int16])?
    /// The candidate is believed, and becomes the format when what came before it has been handed over.
    private var isChanging = false
    private var position = 0
    private var isScanned = false
    /// Frames that an Info header promises; without one the length is an estimate, and promises nothing.
    private let promisedFrames: Int?
    /// Where the next frame begins if nothing is skipped.
    private var expectedOffset: Int?
    private var skippedBytes = 0

    /// judgement: bytes of junk that are skipped to find the next frame; the library's own limit of 1,024 ends an item
    /// at any hole, and no limit runs for minutes on a file of zeros.
    private static let junkLimit = 1 << 20
    /// judgement: behind damage, a piece of sound may look like the header of a frame of another rate.
    private static let framesToBelieve = 3
    private static let isLibraryReady = mpg123_init() == 0

    init(_ file: MediaFile) throws(DecodingFault) {
        guard Self.isLibraryReady, let handle = mpg123_new(nil, nil) else { throw .broken("libmpg123 does not start") }
        do throws(DecodingFault) {
            format = try Self.open(handle, file)
        } catch {
            mpg123_close(handle)
            mpg123_delete(handle)
            throw error
        }
        self.file = file
        self.handle = handle
        var delay = -1
        mpg123_getstate2(handle, CInt(MPG123_ENC_DELAY.rawValue), &delay, nil)
        let length = Int(mpg123_sample_length(handle))
        promisedFrames = delay >= 0 && length > 0 ? length : nil
    }

    deinit {
        mpg123_close(handle)
        mpg123_delete(handle)
    }

    private static func open(_ handle: OpaquePointer, _ file: MediaFile) throws(DecodingFault) -> AudioFormat {
        func set(_ parameter: mpg123_parms, _ value: Int) {
            mpg123_set_number(handle, CInt(parameter.rawValue), value)
        }
        set(MPG123_ADD_FLAGS, Int(MPG123_GAPLESS.rawValue) | Int(MPG123_QUIET.rawValue))
        set(MPG123_REMOVE_FLAGS, Int(MPG123_AUTO_RESAMPLE.rawValue))
        set(MPG123_RESYNC_LIMIT, junkLimit)
        set(MPG123_VERBOSE, 0)
        var rates: UnsafePointer<CLong>?
        var count = 0
        mpg123_rates(&rates, &count)
        mpg123_format_none(handle)
        for rate in UnsafeBufferPointer(start: rates, count: count) {
            let channels = CInt(MPG123_MONO.rawValue | MPG123_STEREO.rawValue)
            mpg123_format(handle, rate, channels, CInt(MPG123_ENC_SIGNED_16.rawValue))
        }
        guard mpg123_use_descriptor(handle, file.descriptor) == 0 else { throw .unrecognised }
        guard let format = try currentFormat(handle) else { throw .unrecognised }
        return format
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
        expectedOffset = nil
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
            if isChanging { return adoptCandidate() }
            if try decodeFrame() { continue }
            if filled > 0 { break }
            noteTruncation()
            return .end
        }
        position += filled / format.channels
        return .frames(filled / format.channels)
    }

    private func adoptCandidate() -> SampleRead {
        isChanging = false
        guard let new = candidate else { return .frames(0) }
        candidate = nil
        position = position * new.format.rate / format.rate
        format = new.format
        pending = new.samples
        taken = 0
        return .changed
    }

    /// Decodes until there is something new in `pending` or another format is to be adopted. False at the end.
    private func decodeFrame() throws(DecodingFault) -> Bool {
        while true {
            var audio: UnsafeMutablePointer<UInt8>?
            var bytes = 0
            let result = mpg123_next_frame(handle, &audio, &bytes)
            guard result == 0 || result == MPG123_NEW_FORMAT.rawValue else {
                // Its words at the end of the file are those of an error that is none.
                if result != MPG123_DONE.rawValue { fault = .broken(words) }
                return false
            }
            noteSkippedBytes()
            if skippedBytes > Self.junkLimit { return false }
            guard let audio, bytes > 0, let now = try Self.currentFormat(handle) else { continue }
            let count = bytes / MemoryLayout<Int16>.size
            let frame = audio.withMemoryRebound(to: Int16.self, capacity: count) {
                UnsafeBufferPointer(start: $0, count: count)
            }
            if now == format {
                if candidate != nil {
                    candidate = nil
                    fault = .damaged(skippedBytes: skippedBytes)
                }
                pending.removeAll(keepingCapacity: true)
                pending.append(contentsOf: frame)
                taken = 0
                return true
            }
            if candidate?.format != now { candidate = (now, 0, []) }
            candidate?.frames += 1
            candidate?.samples.append(contentsOf: frame)
            isChanging = candidate?.frames ?? 0 >= Self.framesToBelieve
            if isChanging { return true }
        }
    }

    /// A frame that does not begin where the one before it ended means that something was skipped.
    private func noteSkippedBytes() {
        let offset = Int(mpg123_frame_offset(handle))
        var header = CUnsignedLong()
        var body: UnsafeMutablePointer<UInt8>?
        var bytes = 0
        guard offset >= 0, mpg123_framedata(handle, &header, &body, &bytes) == 0 else { return }
        if let expectedOffset, offset > expectedOffset {
            skippedBytes += offset - expectedOffset
            fault = .damaged(skippedBytes: skippedBytes)
        }
        expectedOffset = offset + 4 + bytes
    }

    /// A file whose header promised more frames than came.
    private func noteTruncation() {
        guard fault == nil, let promisedFrames, promisedFrames > position else { return }
        fault = .truncated(frames: position, of: promisedFrames)
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
