/// A folder of the music directory.
package struct MusicFolderContent: Codable, Hashable, Sendable {
    /// Relative to the music directory; "" is the directory itself.
    package var path: String
    /// The names of its folders, in natural order.
    package var folders: [String]
    /// Its songs, by disc, track and name.
    package var songs: [Song]

    /// Creates a folder.
    package init(path: String, folders: [String], songs: [Song]) {
        self.path = path
        self.folders = folders
        self.songs = songs
    }
}
