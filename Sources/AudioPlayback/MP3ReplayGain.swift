import CMPG123

extension ReplayGain {
    /// What an MP3 says: TXXX frames first, then what libmpg123 finds in RVA2 frames and in the header of LAME.
    ///
    /// `handle` has been opened and stands at its first frame.
    init(mp3 handle: OpaquePointer, _ file: MediaFile) {
        let texts = Self.userTexts(handle)
        self.init { texts[$0] }
        let peak = Self.lamePeak(file)
        track = track ?? Self.gain(handle, MPG123_RVA_MIX).flatMap { Value(gain: $0, peak: peak) }
        album = album ?? Self.gain(handle, MPG123_RVA_ALBUM).flatMap { Value(gain: $0, peak: peak) }
    }

    /// The library would apply what it is told to look for, from the next frame on: so it is told to forget it.
    private static func gain(_ handle: OpaquePointer, _ kind: mpg123_param_rva) -> Double? {
        mpg123_set_number(handle, CInt(MPG123_RVA.rawValue), Int(kind.rawValue))
        var gain = 0.0
        mpg123_getvolume(handle, nil, nil, &gain)
        mpg123_set_number(handle, CInt(MPG123_RVA.rawValue), Int(MPG123_RVA_OFF.rawValue))
        // None and 0 are the same number, and the same sound.
        return gain == 0 ? nil : gain
    }

    private static func userTexts(_ handle: OpaquePointer) -> [String: String] {
        var new: UnsafeMutablePointer<mpg123_id3v2>?
        guard mpg123_meta_check(handle) & CInt(MPG123_ID3) != 0, mpg123_id3(handle, nil, &new) == 0,
            let tag = new?.pointee, let extra = tag.extra
        else { return [:] }
        var texts: [String: String] = [:]
        for text in UnsafeBufferPointer(start: extra, count: tag.extras).prefix(1_000) {
            guard let name = text.description.p, let value = text.text.p else { continue }
            texts[String(cString: name).uppercased()] = String(cString: value)
        }
        return texts
    }

    /// The peak in the Info frame that LAME writes behind ID3v2 tags: 23 bits are full scale, and 0 is unknown.
    private static func lamePeak(_ file: MediaFile) -> Double? {
        let frame = file.bytes(at: file.endOfLeadingTags(from: 0), count: 192)
        // Behind the header and the side information of one or two channels, of MPEG 1 or 2.
        for offset in [13, 21, 36] where frame.count >= offset + 135 {
            let mark = frame[offset..<offset + 4]
            guard mark.elementsEqual("Info".utf8) || mark.elementsEqual("Xing".utf8),
                frame[offset + 120..<offset + 124].elementsEqual("LAME".utf8)
            else { continue }
            let peak = frame[offset + 131..<offset + 135].reduce(0) { $0 << 8 | Int($1) }
            return Double(peak) / Double(1 << 23)
        }
        return nil
    }
}
