/// One open item, decoded from its start to its end as 16 bit samples. One thread uses it at a time.
protocol SampleSource: AnyObject {
    /// What the next samples are; an MP3 may change it in mid-stream.
    var format: AudioFormat { get }
    /// What was wrong so far, though it could be played.
    var fault: DecodingFault? { get }

    /// What its tags say about its loudness; known from the start.
    var replayGain: ReplayGain { get }

    /// Goes to a frame, counted at the present format; past the end, the next read is the end.
    func seek(toFrame frame: Int) throws(DecodingFault)

    /// Fills the front of `samples` with whole frames of one format. `changed`: `format` is another one from here on.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead

    /// Tags, length and format, at the price of reading the whole file where only that tells the length.
    func metadata() throws(DecodingFault) -> Metadata
}

extension SampleSource {
    var replayGain: ReplayGain { ReplayGain() }
}

enum SampleRead: Equatable {
    case frames(Int)
    case changed
    case end
}

/// Opens `file` with the library that its content asks for, whatever its name is.
///
/// MP3 is libmpg123's alone: libsndfile plays a quarter of a variable-rate file without a header and says no error.
func openSampleSource(_ file: MediaFile) throws(DecodingFault) -> any SampleSource {
    let head = file.bytes(at: 0, count: 4)
    if soundFileMarks.contains(where: { head.elementsEqual($0.utf8) }) {
        // A RIFF file may hold an MP3.
        do { return try SoundFileSource(file) } catch .unrecognised {}
    }
    let parts = GluedMP3Source.parts(of: file)
    return parts.count > 1 ? try GluedMP3Source(file, parts) : try MP3Source(file)
}

extension MediaFile {
    /// Throws ``PlayerError/notAudio(path:reason:)`` where nothing of the file can be decoded.
    func requireAudio() throws(PlayerError) {
        // Queues of 100,000 items are added at once: where name and first bytes agree, the file is not opened by a library.
        if MediaFolder.hasMediaName(path), beginsAsAudio { return }
        do throws(DecodingFault) {
            _ = try openSampleSource(self)
        } catch .unreadable(let reason) {
            throw .unreadable(path: path, reason: reason)
        } catch {
            throw .notAudio(path: path, reason: error.reason)
        }
    }

    private var beginsAsAudio: Bool {
        let head = bytes(at: 0, count: MPEGFrameHeader.size)
        return (soundFileMarks + ["ID3"]).contains { head.starts(with: $0.utf8) } || MPEGFrameHeader(head) != nil
    }
}

/// How the files begin that are libsndfile's: the others never reach its many parsers.
private let soundFileMarks = ["RIFF", "RIFX", "RF64", "riff", "FORM", "fLaC", "OggS", "caff", ".snd", "dns."]
