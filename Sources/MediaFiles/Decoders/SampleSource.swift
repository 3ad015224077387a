/// An open item, decoded to 16-bit samples. Only one thread may use it at a time.
package protocol SampleSource: AnyObject {
    /// The format of the next samples. An MP3 may change it in mid-stream.
    var format: AudioFormat { get }
    /// The fault found so far in an item that still plays.
    var fault: DecodingFault? { get }

    /// The gains from its tags; known from the start.
    var replayGain: ReplayGain { get }

    /// The bit rate in kbit/s: the stated one, or the average of the file; nil if neither is known. Known from the start.
    var bitrate: Int? { get }

    /// Seeks to a frame, counted in the current format. After a seek past the end, the next read returns `end`.
    func seek(toFrame frame: Int) throws(DecodingFault)

    /// Fills the front of `samples` with whole frames of one format. After `changed`, `format` is the new format.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead

    /// Returns tags, duration and format. Reads the whole file if the duration cannot be known otherwise.
    func metadata() throws(DecodingFault) -> Metadata
}

extension SampleSource {
    package var replayGain: ReplayGain { ReplayGain() }
    package var bitrate: Int? { nil }
}

/// The result of a read of a ``SampleSource``.
package enum SampleRead: Equatable {
    case frames(Int)
    case changed
    case end
}

/// Opens `file` with the library that fits its content; its name does not matter.
///
/// Only libmpg123 reads MP3: libsndfile plays a quarter of a variable-rate file without a header and reports no error.
package func openSampleSource(_ file: MediaFile) throws(DecodingFault) -> any SampleSource {
    let head = file.bytes(at: 0, count: 4)
    if soundFileMarks.contains(where: { head.elementsEqual($0.utf8) }) {
        // A RIFF file may hold an MP3.
        do { return try SoundFileSource(file) } catch .unrecognised {}
    }
    let parts = GluedMP3Source.parts(of: file)
    return parts.count > 1 ? try GluedMP3Source(file, parts) : try MP3Source(file)
}

/// Returns the average bit rate in kbit/s of `bytes` that hold `frames`; nil if there are none.
func averageBitrate(bytes: Int, frames: Int, rate: Int) -> Int? {
    guard frames > 0, bytes > 0 else { return nil }
    return Int(exactly: (Double(bytes) * 8 * Double(rate) / Double(frames) / 1000).rounded())
}

extension MediaFile {
    /// Checks that the file can be decoded.
    ///
    /// - Throws: ``MediaError/notAudio(path:reason:)``.
    package func requireAudio() throws(MediaError) {
        // 100,000 items may be added in one command: if name and first bytes agree, skip opening the file in a library.
        if Self.hasMediaName(path), beginsAsAudio { return }
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

/// The first bytes of the files that libsndfile gets; no other file reaches its many parsers.
let soundFileMarks = ["RIFF", "RIFX", "RF64", "riff", "FORM", "fLaC", "OggS", "caff", ".snd", "dns."]
