/// What tells whether a file is as it was: when it was last changed, and its size.
package struct FileSignature: Hashable, Sendable {
    /// Nanoseconds since 1970.
    package var modified: Int64
    /// In bytes.
    package var size: Int64

    package init(modified: Int64, size: Int64) {
        self.modified = modified
        self.size = size
    }
}

/// The name of a file or folder, equal to those of the same bytes, as the system has it; to Swift, é and e with an accent
/// behind it are one text, and a disk may have both.
package struct FileName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    package init(_ text: some StringProtocol) { self.text = String(text) }
    package init(stringLiteral text: String) { self.text = text }

    package static func == (first: Self, second: Self) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// What the music database knows of one folder, without what is in the folders in it.
package struct MusicFolder: Hashable, Sendable {
    /// By file name; also of files in which there is no sound, so that they are not read again.
    package var files: [FileName: FileSignature]
    /// Those of the files in which there is no sound.
    package var silent: Set<FileName>
    /// The names of the folders in it that have songs.
    package var folders: Set<FileName>

    package init(
        files: [FileName: FileSignature] = [:],
        silent: Set<FileName> = [],
        folders: Set<FileName> = []
    ) {
        self.files = files
        self.silent = silent
        self.folders = folders
    }
}

/// What a look at the music directory found changed. All paths are relative to it.
package struct MusicChanges: Sendable {
    /// New ones, and those that take the place of the one with their path.
    package var songs: [(song: Song, signature: FileSignature)] = []
    /// Files in which there is no sound.
    package var silent: [(path: String, signature: FileSignature)] = []
    package var removedFiles: [String] = []
    /// With all that was in them.
    package var removedFolders: [String] = []
    /// When folders were last changed: nanoseconds since 1970.
    package var folders: [String: Int64] = [:]

    package init() {}

    package var count: Int { songs.count + silent.count + removedFiles.count + removedFolders.count }
}
