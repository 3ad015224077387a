import CMPG123

/// Returns the bit rate of an MP3 in kbit/s: that of its frames if it is constant, else the average.
///
/// - Parameter frames: the length of the sound; nil if it is unknown.
func mp3Bitrate(_ handle: OpaquePointer, bytes: Int?, frames: Int?, rate: Int) -> Int? {
    var info = mpg123_frameinfo2()
    guard mpg123_info2(handle, &info) == 0 else { return nil }
    if info.vbr != CInt(MPG123_CBR.rawValue), let bytes, let frames {
        return averageBitrate(bytes: bytes, frames: frames, rate: rate)
    }
    return info.bitrate > 0 ? Int(info.bitrate) : nil
}
