import CMPG123

extension ReplayGain {
    /// Reads the gains of an MP3: from TXXX frames, else from RVA2 frames and LAME's header, as libmpg123 finds them.
    ///
    /// `handle` must be open, at the first frame. Without a file, the peak in LAME's header is unknown.
    init(mp3 handle: OpaquePointer, _ file: MediaFile? = nil) {
        let texts = Self.userTexts(handle)
        self.init { texts[$0] }
        let peak = file.flatMap(Self.lamePeak)
        track = track ?? Self.gain(handle, MPG123_RVA_MIX).flatMap { Value(gain: $0, peak: peak) }
        album = album ?? Self.gain(handle, MPG123_RVA_ALBUM).flatMap { Value(gain: $0, peak: peak) }
    }

    /// Reads one kind of gain. libmpg123 would apply the requested kind from the next frame on, so it is switched off again.
    private static func gain(_ handle: OpaquePointer, _ kind: mpg123_param_rva) -> Double? {
        cmpg123_set(handle, CInt(MPG123_RVA.rawValue), Int(kind.rawValue))
        var gain = 0.0
        mpg123_getvolume(handle, nil, nil, &gain)
        cmpg123_set(handle, CInt(MPG123_RVA.rawValue), Int(MPG123_RVA_OFF.rawValue))
        // 0 stands for no gain too, which sounds the same.
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

    /// Returns the peak in LAME's Info frame, after the ID3v2 tags. Full scale is 2²³, and 0 means unknown.
    private static func lamePeak(_ file: MediaFile) -> Double? {
        let frame = file.bytes(at: file.endOfLeadingTags(from: 0), count: 192)
        // After the header and the side information, whose size depends on channels and MPEG version.
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
