import Glibc
package import MediaFiles
import SystemSupport

/// Reads the pictures of songs, one at a time.
package actor PictureReader {
    private let executor = QueueExecutor("backgrounder.audio.pictures")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let directory: MusicDirectory

    /// Creates a reader for the songs in `directory`.
    package init(_ directory: MusicDirectory) { self.directory = directory }

    /// The extensions of cover files: MPD's, in its order, and more.
    private static let names = ["png", "jpg", "jpeg", "webp", "tiff", "bmp", "gif"]

    /// Returns the picture embedded in a song's file, or else the one in its folder, or nil if there is none.
    package func picture(of path: String) -> Picture? { embedded(in: path) ?? cover(of: path) }

    /// Returns the picture embedded in a song's file, or nil if there is none.
    package func embedded(in path: String) -> Picture? {
        guard let file = try? directory.open(path) else { return nil }
        return try? FileDescription(file, withPicture: true).picture
    }

    /// Returns the picture `cover.png`, `cover.jpg`, … in the song's folder, or nil if there is none.
    package func cover(of path: String) -> Picture? {
        let folder = musicFolder(of: path)
        let prefix = folder.isEmpty ? "" : folder + "/"
        for name in Self.names {
            guard let file = try? directory.open("\(prefix)cover.\(name)"), file.size <= Picture.mostBytes else {
                continue
            }
            let type = name == "jpg" ? "image/jpeg" : "image/\(name)"
            if let picture = Picture(type: type, bytes: file.bytes(at: 0, count: file.size), isFrontCover: true) {
                return picture
            }
        }
        return nil
    }
}
