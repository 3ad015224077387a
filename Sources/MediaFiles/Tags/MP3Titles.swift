import CMPG123

extension Metadata {
    /// Adds the title, artist and album that libmpg123 has found in the ID3 tags.
    mutating func addTags(mp3 handle: OpaquePointer) {
        var old: UnsafeMutablePointer<mpg123_id3v1>?
        var new: UnsafeMutablePointer<mpg123_id3v2>?
        guard mpg123_meta_check(handle) & CInt(MPG123_ID3) != 0, mpg123_id3(handle, &old, &new) == 0 else { return }
        if let tag = new?.pointee {
            title = text(tag.title)
            artist = text(tag.artist)
            album = text(tag.album)
        }
        if let tag = old?.pointee {
            title = title ?? latin1(tag.title)
            artist = artist ?? latin1(tag.artist)
            album = album ?? latin1(tag.album)
        }
    }
}

private func text(_ string: UnsafeMutablePointer<mpg123_string>?) -> String? {
    guard let string = string?.pointee, let bytes = string.p, string.fill > 1 else { return nil }
    return Metadata.line(String(cString: bytes))
}

/// Decodes a field of ID3v1: up to 30 bytes of Latin-1, terminated by a zero if shorter.
private func latin1<Field>(_ field: Field) -> String? {
    withUnsafeBytes(of: field) { bytes in
        Metadata.line(String(String.UnicodeScalarView(bytes.prefix { $0 != 0 }.map(Unicode.Scalar.init))))
    }
}
