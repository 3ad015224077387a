import BackgrounderAPI
import CMPG123

/// The tags and length of an MP3, which libmpg123 reads without decoding. Only one thread may use it at a time.
final class MP3Tags {
    let format: AudioFormat
    /// The length without the encoder's delay and padding. An estimate if neither a header nor a scan of the file gives it.
    let frames: Int?
    let tags: [SongTag]
    /// The user texts (TXXX) by their names in upper case, such as REPLAYGAIN_TRACK_GAIN.
    let values: [String: String]
    let picture: Picture?

    /// Tuned: the most bytes of tags, because libmpg123 loads them into memory.
    private static let mostTagBytes = 24 << 20
    /// Tuned: the largest file without a stated length that is scanned for it.
    private static let mostScanned = 512 << 20
    private static let isLibraryReady = mpg123_init() == 0

    init(_ file: MediaFile, withPicture: Bool = false) throws(DecodingFault) {
        guard Self.isLibraryReady, let handle = mpg123_new(nil, nil) else {
            throw .broken("cannot initialize libmpg123")
        }
        defer {
            mpg123_close(handle)
            mpg123_delete(handle)
        }
        var flags = Int(MPG123_GAPLESS.rawValue) | Int(MPG123_QUIET.rawValue)
        if withPicture { flags |= Int(MPG123_PICTURE.rawValue) }
        if file.id3v2Size(at: 0) ?? 0 > Self.mostTagBytes { flags |= Int(MPG123_SKIP_ID3V2.rawValue) }
        cmpg123_set(handle, CInt(MPG123_ADD_FLAGS.rawValue), flags)
        cmpg123_set(handle, CInt(MPG123_RESYNC_LIMIT.rawValue), 1 << 20)
        cmpg123_set(handle, CInt(MPG123_VERBOSE.rawValue), 0)
        let window = MediaWindow(file)
        var rate = 0
        var channels: CInt = 0
        var encoding: CInt = 0
        guard window.isOpened(by: handle),
            mpg123_getformat(handle, &rate, &channels, &encoding) == 0
        else { throw .unrecognised }
        format = try AudioFormat(rate: rate, channels: Int(channels))
        frames = Self.frames(handle, file)
        var old: UnsafeMutablePointer<mpg123_id3v1>?
        var new: UnsafeMutablePointer<mpg123_id3v2>?
        var tags = SongTags()
        var values: [String: String] = [:]
        var picture = Picture.Choice()
        if mpg123_meta_check(handle) & CInt(MPG123_ID3) != 0, mpg123_id3(handle, &old, &new) == 0 {
            if let new = new?.pointee {
                Self.add(new, to: &tags)
                for extra in UnsafeBufferPointer(start: new.extra, count: new.extras).prefix(1_000) {
                    values[text(extra.description).uppercased()] = text(extra.text)
                }
                for frame in UnsafeBufferPointer(start: new.picture, count: new.pictures) {
                    picture.offer { Picture(frame) }
                }
            }
            if let old = old?.pointee { Self.add(old, to: &tags) }
        }
        withExtendedLifetime(window) {}
        self.tags = tags.all
        self.values = values
        self.picture = picture.picture
    }

    private static func frames(_ handle: OpaquePointer, _ file: MediaFile) -> Int? {
        var delay = -1
        mpg123_getstate2(handle, CInt(MPG123_ENC_DELAY.rawValue), &delay, nil)
        // With an Info header the length is known, and no scan is needed.
        if delay < 0, file.size <= mostScanned { mpg123_scan(handle) }
        let length = cmpg123_length(handle)
        return length >= 0 ? Int(length) : nil
    }

    private static func add(_ tag: mpg123_id3v2, to tags: inout SongTags) {
        for frame in UnsafeBufferPointer(start: tag.text, count: tag.texts).prefix(1_000) {
            let id = withUnsafeBytes(of: frame.id) { String(decoding: $0, as: UTF8.self) }
            guard let name = SongTagName(id3Frame: id) else { continue }
            for value in texts(frame.text) { tags.add(name, name == .genre ? ID3Genre.name(value) : value) }
        }
        for comment in UnsafeBufferPointer(start: tag.comment_list, count: tag.comments).prefix(1_000)
        where text(comment.description).isEmpty {
            tags.add(.comment, text(comment.text))
        }
    }

    /// Adds ID3v1's texts where there are no others, because they are cut at 30 characters.
    private static func add(_ tag: mpg123_id3v1, to tags: inout SongTags) {
        func add(_ name: SongTagName, _ field: some Any) {
            if !tags.contains(name) { tags.add(name, latin1(field)) }
        }
        add(.title, tag.title)
        add(.artist, tag.artist)
        add(.album, tag.album)
        add(.date, tag.year)
        add(.comment, tag.comment)
        // ID3v1.1 has the track number in the comment's last byte, after a zero.
        let number = withUnsafeBytes(of: tag.comment) { $0[28] == 0 ? $0[29] : 0 }
        if number > 0, !tags.contains(.track) { tags.add(.track, String(number)) }
        if let genre = ID3Genre.name(Int(tag.genre)), !tags.contains(.genre) { tags.add(.genre, genre) }
    }
}

extension Picture {
    fileprivate init?(_ frame: mpg123_picture) {
        guard let data = frame.data, frame.size <= Self.mostBytes else { return nil }
        let bytes = Array(UnsafeBufferPointer(start: data, count: frame.size))
        self.init(type: text(frame.mime_type), bytes: bytes, isFrontCover: frame.type == 3)
    }
}

/// Returns the texts of a frame, which zeros separate.
private func texts(_ string: mpg123_string) -> [String] {
    guard let start = string.p, string.fill > 0 else { return [] }
    return UnsafeRawBufferPointer(start: start, count: min(string.fill, 1 << 16)).split(separator: 0).map {
        String(decoding: $0, as: UTF8.self)
    }
}

private func text(_ string: mpg123_string) -> String { texts(string).first ?? "" }

/// Decodes a field of ID3v1: Latin-1, terminated by a zero or its length.
private func latin1(_ field: some Any) -> String {
    withUnsafeBytes(of: field) { bytes in
        String(String.UnicodeScalarView(bytes.prefix { $0 != 0 }.map(Unicode.Scalar.init)))
    }
}
