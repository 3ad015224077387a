import CSndFile
import Glibc

/// An item that libsndfile reads: WAV, RF64, AIFF, FLAC, Ogg Vorbis, Opus and their kin.
///
/// 16 bit is exact; all else is its float × 32768, rounded and clipped, without dither.
final class SoundFileSource: SampleSource {
    let format: AudioFormat
    private(set) var fault: DecodingFault?
    private let file: MediaFile
    private let handle: OpaquePointer
    private let info: SF_INFO
    private var position = 0
    /// Empty where the samples are 16 bit in the file.
    private var floats: [Float] = []

    init(_ file: MediaFile) throws(DecodingFault) {
        var info = SF_INFO()
        // Not the descriptor: where libsndfile fails to open one, it closes it, whatever it was told.
        var input = fileInput
        let user = Unmanaged.passUnretained(file).toOpaque()
        guard let handle = sf_open_virtual(&input, CInt(SFM_READ), &info, user) else { throw .unrecognised }
        do throws(DecodingFault) {
            if Int(info.format) & SF_FORMAT_TYPEMASK.number == SF_FORMAT_MPEG.number { throw .unrecognised }
            format = try AudioFormat(rate: Int(info.samplerate), channels: Int(info.channels))
        } catch {
            sf_close(handle)
            throw error
        }
        self.file = file
        self.handle = handle
        self.info = info
        if let promised = promisedFrames(), promised > Int(info.frames) {
            fault = .truncated(frames: Int(info.frames), of: promised)
        }
    }

    deinit { sf_close(handle) }

    func seek(toFrame frame: Int) throws(DecodingFault) {
        let frame = min(max(0, frame), Int(info.frames))
        guard sf_seek(handle, sf_count_t(frame), CInt(SEEK_SET)) >= 0 else { throw .broken(words) }
        position = frame
    }

    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead {
        let wanted = samples.count / format.channels
        let count: Int
        if Int(info.format) & SF_FORMAT_SUBMASK.number == SF_FORMAT_PCM_16.number {
            count = Int(sf_readf_short(handle, samples.baseAddress, sf_count_t(wanted)))
        } else {
            if floats.count < samples.count { floats = [Float](repeating: 0, count: samples.count) }
            count = floats.withUnsafeMutableBufferPointer { floats in
                let count = Int(sf_readf_float(handle, floats.baseAddress, sf_count_t(wanted)))
                for index in 0..<max(0, count) * format.channels { samples[index] = quantized(floats[index]) }
                return count
            }
        }
        guard count > 0 else {
            if fault == nil, info.frames < .max, position < Int(info.frames) {
                fault = .truncated(frames: position, of: Int(info.frames))
            }
            return .end
        }
        position += count
        return .frames(count)
    }

    func metadata() throws(DecodingFault) -> Metadata {
        func tag(_ kind: Int) -> String? {
            sf_get_string(handle, CInt(kind)).flatMap { Metadata.line(String(cString: $0)) }
        }
        return Metadata(
            title: tag(SF_STR_TITLE),
            artist: tag(SF_STR_ARTIST),
            album: tag(SF_STR_ALBUM),
            frames: info.frames < .max ? Int(info.frames) : nil,
            format: format,
            codec: codec
        )
    }

    private var words: String { String(cString: sf_strerror(handle)) }

    private var codec: String {
        switch Int(info.format) & SF_FORMAT_SUBMASK.number {
        case SF_FORMAT_VORBIS.number: return "vorbis"
        case SF_FORMAT_OPUS.number: return "opus"
        default: break
        }
        return switch Int(info.format) & SF_FORMAT_TYPEMASK.number {
        case SF_FORMAT_WAV.number, SF_FORMAT_WAVEX.number, SF_FORMAT_RF64.number, SF_FORMAT_W64.number: "wav"
        case SF_FORMAT_AIFF.number: "aiff"
        case SF_FORMAT_FLAC.number: "flac"
        case SF_FORMAT_CAF.number: "caf"
        case SF_FORMAT_AU.number: "au"
        default: "pcm"
        }
    }

    /// The frames that a RIFF file's data chunk states. libsndfile lowers that number to what is there, without a word.
    ///
    /// A writer that did not know the length leaves a number near 2³¹ or 2³² behind, which promises nothing.
    private func promisedFrames() -> Int? {
        guard file.bytes(at: 0, count: 4) == Array("RIFF".utf8), file.bytes(at: 8, count: 4) == Array("WAVE".utf8)
        else { return nil }
        var offset = 12
        var blockAlign = 0
        // judgement: more chunks before the samples than any writer leaves
        for _ in 0..<256 {
            let header = file.bytes(at: offset, count: 24)
            guard header.count >= 8 else { return nil }
            let size = (0..<4).reduce(0) { $0 | Int(header[4 + $1]) << (8 * $1) }
            if header.starts(with: "fmt ".utf8), header.count >= 22 {
                blockAlign = Int(header[20]) | Int(header[21]) << 8
            } else if header.starts(with: "data".utf8) {
                let isPCM = blockAlign > 0 && Int(info.format) & SF_FORMAT_SUBMASK.number <= SF_FORMAT_DOUBLE.number
                guard isPCM, size < 0x7FFF_0000, offset + 8 + size > file.size else { return nil }
                return size / blockAlign
            }
            offset += 8 + size + size % 2
        }
        return nil
    }
}

/// Reading a ``MediaFile``, which the source keeps alive, as libsndfile's functions.
private let fileInput = SF_VIRTUAL_IO(
    get_filelen: { sf_count_t(mediaFile($0).size) },
    seek: { sf_count_t(lseek(mediaFile($2).descriptor, off_t($0), $1)) },
    read: { sf_count_t(max(0, read(mediaFile($2).descriptor, $0, Int($1)))) },
    write: { _, _, _ in 0 },
    tell: { sf_count_t(lseek(mediaFile($0).descriptor, 0, SEEK_CUR)) }
)

private func mediaFile(_ user: UnsafeMutableRawPointer!) -> MediaFile {
    Unmanaged<MediaFile>.fromOpaque(user).takeUnretainedValue()
}

/// The 16 bit sample nearest to `value` in -1...1; what is no number is silence.
@inline(__always)
private func quantized(_ value: Float) -> Int16 {
    let scaled = (value * 32768).rounded(.toNearestOrEven)
    guard scaled < 32767 else { return 32767 }
    return scaled > -32768 ? Int16(scaled) : scaled.isNaN ? 0 : -32768
}

/// libsndfile's constants are enumerations without a name, which arrive as different types.
extension RawRepresentable where RawValue: BinaryInteger {
    fileprivate var number: Int { Int(rawValue) }
}
extension Int {
    fileprivate var number: Int { self }
}
