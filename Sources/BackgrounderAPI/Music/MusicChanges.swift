/// The modification time and size of a file, by which a change is detected.
package struct FileSignature: Hashable, Sendable {
    /// Nanoseconds since 1970.
    package var modified: Int64
    /// In bytes.
    package var size: Int64

    /// Creates a file signature.
    package init(modified: Int64, size: Int64) {
        self.modified = modified
        self.size = size
    }
}

/// The name of a file or folder, compared by its bytes as the system does. Swift considers é and e with a combining accent equal, and
/// a disk may have both.
package struct FileName: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String

    /// Creates a file name.
    package init(_ text: some StringProtocol) { self.text = String(text) }
    /// Creates a file name.
    package init(stringLiteral text: String) { self.text = text }

    /// Returns whether two names have the same bytes.
    package static func == (first: Self, second: Self) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    /// Hashes the bytes of the name.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// The music database's entries of one folder, without its subfolders.
package struct MusicFolder: Hashable, Sendable {
    /// The signatures of files by name, including those without sound, so that they are not read again.
    package var files: [FileName: FileSignature]
    /// The names of files without sound.
    package var silent: Set<FileName>
    /// The names of subfolders that have songs.
    package var folders: Set<FileName>

    /// Creates a music folder.
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

/// The changes that a scan of the music directory found. All paths are relative to it.
package struct MusicChanges: Sendable {
    /// New songs, and songs that replace the one with their path.
    package var songs: [(song: Song, signature: FileSignature)] = []
    /// Files without sound.
    package var silent: [(path: String, signature: FileSignature)] = []
    package var removedFiles: [String] = []
    /// Folders that were removed with their content.
    package var removedFolders: [String] = []
    /// The modification times of folders, in nanoseconds since 1970.
    package var folders: [String: Int64] = [:]

    /// Creates an empty set of changes.
    package init() {}

    package var count: Int { songs.count + silent.count + removedFiles.count + removedFolders.count }
}
