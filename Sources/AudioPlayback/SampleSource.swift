/// One open item, decoded from its start to its end as 16 bit samples. One thread uses it at a time.
protocol SampleSource: AnyObject {
    /// What the next samples are; an MP3 may change it in mid-stream.
    var format: AudioFormat { get }
    /// What was wrong so far, though it could be played.
    var fault: DecodingFault? { get }

    /// Goes to a frame, counted at the present format; past the end, the next read is the end.
    func seek(toFrame frame: Int) throws(DecodingFault)

    /// Fills the front of `samples` with whole frames of one format. `changed`: `format` is another one from here on.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) throws(DecodingFault) -> SampleRead

    /// Tags, length and format, at the price of reading the whole file where only that tells the length.
    func metadata() throws(DecodingFault) -> Metadata
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
    let head = file.bytes(at: 0, count: 3)
    let looksLikeMPEG =
        head.starts(with: [0x49, 0x44, 0x33]) || (head.count >= 2 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0)
    if !looksLikeMPEG {
        do { return try SoundFileSource(file) } catch .unrecognised {}
        file.rewind()
    }
    return try MP3Source(file)
}
