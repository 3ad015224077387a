import CSndFile
import Glibc
import SystemSupport

/// A source that libsndfile decodes: WAV, RF64, AIFF, FLAC, Ogg Vorbis, Opus and related formats.
///
/// 16-bit samples pass unchanged; others are libsndfile's floats × 32768, rounded and clipped, without dither.
final class SoundFileSource: SampleSource {
    let format: AudioFormat
    private(set) var fault: DecodingFault?
    let replayGain: ReplayGain
    private let window: MediaWindow
    private let info: SF_INFO
    private(set) var handle: OpaquePointer
    private var position = 0
    /// Frames that were skipped because they could not be decoded.
    private var lostFrames = 0
    private var resumptions = 0
    /// Empty if the file has 16-bit samples.
    private var floats: [Float] = []

    /// Tuned: the bytes that opening a file may read; only a hostile file needs more.
    private static let openingBudget = 1 << 26
    /// Tuned: how often decoding resumes after damage in one item; a file with more damage is noise.
    private static let mostResumptions = 64
    /// Tuned: the frames to skip first; FLAC's usual block size, because a block is decoded as a whole.
    private static let firstStep = 4096

    init(_ file: MediaFile) throws(DecodingFault) {
        let window = MediaWindow(file)
        let (handle, info) = try Self.open(window)
        do throws(DecodingFault) {
            if info.type == SF_FORMAT_MPEG.number { throw .unrecognised }
            format = try AudioFormat(rate: Int(info.samplerate), channels: Int(info.channels))
        } catch {
            sf_close(handle)
            throw error
        }
        self.window = window
        self.handle = handle
        let comments = VorbisComments(file)
        replayGain = ReplayGain { comments?[$0] }
        self.info = info
        fault = faultOfHeader()
    }

    deinit { sf_close(handle) }

    private static func open(_ window: MediaWindow) throws(DecodingFault) -> (OpaquePointer, SF_INFO) {
        var info = SF_INFO()
        // Not by descriptor: libsndfile closes the descriptor if opening fails, even when told not to.
        var input = windowInput
        _ = window.seek(0, SEEK_SET)
        window.budget = openingBudget
        defer { window.budget = .max }
        if let handle = sf_open_virtual(&input, CInt(SFM_READ), &info, window.pointer) { return (handle, info) }
        if let failure = window.failure { throw .unreadable(systemMessage(failure)) }
        // The library keeps this text per process, so it may belong to another file that is opened at the same time.
        let words = String(cString: sf_strerror(nil))
        throw Int(sf_error(nil)) == SF_ERR_UNRECOGNISED_FORMAT.number ? .unrecognised : .unsupported(words)
    }

    func seek(toFrame frame: Int) throws(DecodingFault) {
        let frame = min(max(0, frame), Int(info.frames))
        try prepareOggSeek()
        if sf_seek(handle, sf_count_t(frame), CInt(SEEK_SET)) >= 0 {
            position = frame
            return
        }
        // The seek failed, because the end or a block is missing: decode up to there instead.
        try reopen()
        let scratch = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 1 << 15)
        defer { scratch.deallocate() }
        while position < frame {
            let count = min(scratch.count, (frame - position) * format.channels)
            guard case .frames = try read(into: UnsafeMutableBufferPointer(rebasing: scratch[..<count])) else { return }
        }
    }

    /// Prepares an Ogg file for a seek. libsndfile seeks to the wrong place in an Ogg file that it has decoded from, and
    /// libvorbis aborts the process on a seek in a file that it cannot start to decode.
    private func prepareOggSeek() throws(DecodingFault) {
        guard info.type == SF_FORMAT_OGG.number else { return }
        if info.encoding == SF_FORMAT_VORBIS.number {
            try reopen()
            let frame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: format.channels)
            defer { frame.deallocate() }
            if decode(into: frame) <= 0 { throw .broken("the file cannot be decoded") }
        }
        try reopen()
    }

    /// Opens the file again, because libsndfile does not recover from an error.
    private func reopen() throws(DecodingFault) {
        let (handle, _) = try Self.open(window)
        sf_close(self.handle)
        self.handle = handle
        position = 0
    }

    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        while true {
            let count = decode(into: samples)
            if count > 0 {
                position += count
                return .frames(count)
            }
            guard resume() else { break }
        }
        noteEnd()
        return .end
    }

    private func decode(into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        let wanted = samples.count / format.channels
        if info.encoding == SF_FORMAT_PCM_16.number {
            return Int(sf_readf_short(handle, samples.baseAddress, sf_count_t(wanted)))
        }
        if floats.count < samples.count { floats = [Float](repeating: 0, count: samples.count) }
        return floats.withUnsafeMutableBufferPointer { floats in
            let count = Int(sf_readf_float(handle, floats.baseAddress, sf_count_t(wanted)))
            for index in 0..<max(0, count) * format.channels { samples[index] = quantized(floats[index]) }
            return count
        }
    }

    /// Resumes a FLAC after a block that cannot be decoded, where libsndfile gives up.
    private func resume() -> Bool {
        guard info.type == SF_FORMAT_FLAC.number, position < Int(info.frames), window.failure == nil,
            resumptions < Self.mostResumptions
        else { return false }
        resumptions += 1
        let end = position
        var step = Self.firstStep
        while end + step < Int(info.frames) {
            guard (try? reopen()) != nil else { break }
            if sf_seek(handle, sf_count_t(end + step), CInt(SEEK_SET)) >= 0 {
                position = end + step
                lostFrames += step
                fault = .lost(frames: lostFrames)
                return true
            }
            step *= 2
        }
        position = end
        return false
    }

    private func noteEnd() {
        if let failure = window.failure {
            fault = .unreadable(systemMessage(failure))
        } else if info.type == SF_FORMAT_OGG.number {
            fault = fault ?? faultOfOggPages(in: window.file)
        }
        guard fault == nil, info.frames < .max, position < Int(info.frames) else { return }
        fault = .truncated(frames: position, of: Int(info.frames))
    }

    /// Returns the fault of a header that states more samples than the file has.
    private func faultOfHeader() -> DecodingFault? {
        guard let sound = StatedSound(window.file), sound.offset + sound.size > window.file.size else { return nil }
        let isPCM = info.encoding <= SF_FORMAT_DOUBLE.number
        if let blockAlign = sound.blockAlign, blockAlign > 0, isPCM {
            return .truncated(frames: Int(info.frames), of: sound.size / blockAlign)
        }
        return .cut(missingBytes: sound.offset + sound.size - window.file.size)
    }

    func metadata() throws(DecodingFault) -> Metadata {
        func tag(_ kind: Int) -> String? {
            sf_get_string(handle, CInt(kind)).flatMap { Metadata.line(String(cString: $0)) }
        }
        return Metadata(
            title: tag(SF_STR_TITLE),
            artist: tag(SF_STR_ARTIST),
            album: tag(SF_STR_ALBUM),
            frames: believableFrames,
            format: format,
            codec: codec
        )
    }

    /// The length, if it is plausible: an Ogg header can state any number, and positions in an item are bounded.
    private var believableFrames: Int? {
        let frames = Int(info.frames)
        return Double(frames) <= AudioFormat.latestTime * Double(format.rate) && frames >= 0 ? frames : nil
    }

    var bitrate: Int? {
        believableFrames.flatMap { averageBitrate(bytes: window.file.size, frames: $0, rate: format.rate) }
    }

    private var codec: String {
        switch info.encoding {
        case SF_FORMAT_VORBIS.number: return "vorbis"
        case SF_FORMAT_OPUS.number: return "opus"
        default: break
        }
        return switch info.type {
        case SF_FORMAT_WAV.number, SF_FORMAT_WAVEX.number, SF_FORMAT_RF64.number, SF_FORMAT_W64.number: "wav"
        case SF_FORMAT_AIFF.number: "aiff"
        case SF_FORMAT_FLAC.number: "flac"
        case SF_FORMAT_CAF.number: "caf"
        case SF_FORMAT_AU.number: "au"
        default: "pcm"
        }
    }
}

/// libsndfile's callbacks for reading a ``MediaWindow``.
private let windowInput = SF_VIRTUAL_IO(
    get_filelen: { sf_count_t(MediaWindow.behind($0)?.range.count ?? 0) },
    seek: { sf_count_t(MediaWindow.behind($2)?.seek(Int($0), $1) ?? -1) },
    read: { memory, count, user in
        guard let memory, let window = MediaWindow.behind(user) else { return 0 }
        return sf_count_t(max(0, window.read(into: memory, count: Int(count))))
    },
    write: { _, _, _ in 0 },
    tell: { sf_count_t(MediaWindow.behind($0)?.tell() ?? 0) }
)

/// Returns the 16-bit sample nearest to `value` in -1...1; NaN becomes silence.
@inline(__always)
private func quantized(_ value: Float) -> Int16 {
    let scaled = (value * 32768).rounded(.toNearestOrEven)
    guard scaled < 32767 else { return 32767 }
    return scaled > -32768 ? Int16(scaled) : scaled.isNaN ? 0 : -32768
}

extension SF_INFO {
    fileprivate var type: Int { Int(format) & SF_FORMAT_TYPEMASK.number }
    fileprivate var encoding: Int { Int(format) & SF_FORMAT_SUBMASK.number }
}

/// libsndfile's constants are anonymous enumerations, which are imported as different types.
extension RawRepresentable where RawValue: BinaryInteger {
    fileprivate var number: Int { Int(rawValue) }
}
extension Int {
    fileprivate var number: Int { self }
}
