package import BackgrounderAPI
import CSndFile

/// The description of a sound file for the music database.
package struct FileDescription: Sendable {
    package var format: AudioFormat
    package var frames: Int?
    package var tags: [SongTag]
    package var picture: Picture?

    /// Reads headers and tags, and the whole file if an MP3 does not state its length. Call it on a thread that may wait for
    /// a disk.
    package init(_ file: MediaFile, withPicture: Bool = false) throws(DecodingFault) {
        if let comments = VorbisComments(file, withPicture: withPicture) {
            let source = try SoundFileSource(file)
            (format, frames) = (source.format, try source.metadata().frames)
            (tags, picture) = (comments.tags, comments.picture?.picture)
            return
        }
        // The player decides which library decodes the file.
        let source = try openSampleSource(file)
        if let source = source as? SoundFileSource {
            (format, frames, tags) = (source.format, try source.metadata().frames, source.tags)
        } else {
            let mp3 = try MP3Tags(file, withPicture: withPicture)
            (format, tags, picture) = (mp3.format, mp3.tags, mp3.picture)
            // For several MP3s in one file, libmpg123 returns the length of the first.
            frames = source is GluedMP3Source ? try source.metadata().frames : mp3.frames
        }
    }

    /// The length in seconds.
    package var duration: Double? { frames.map { Double($0) / Double(format.rate) } }
}

extension SoundFileSource {
    /// The tags that libsndfile reads: RIFF INFO, AIFF's chunks and similar ones.
    fileprivate var tags: [SongTag] {
        var tags = SongTags()
        let kinds: [(Int, SongTagName)] = [
            (SF_STR_ARTIST, .artist), (SF_STR_ALBUM, .album), (SF_STR_TITLE, .title), (SF_STR_TRACKNUMBER, .track),
            (SF_STR_GENRE, .genre), (SF_STR_DATE, .date), (SF_STR_COMMENT, .comment),
        ]
        for (kind, name) in kinds {
            if let text = sf_get_string(handle, CInt(kind)) { tags.add(name, String(cString: text)) }
        }
        return tags.all
    }
}
