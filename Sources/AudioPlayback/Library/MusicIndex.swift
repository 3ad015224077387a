package import BackgrounderAPI

/// Where the music library keeps what it found. The library's thread calls these, and they may wait for a disk.
package protocol MusicIndex: Sendable {
    /// Empties the index where it is that of another directory.
    func open(directory: String) throws

    /// What is known of one folder.
    func folder(_ path: String) throws -> MusicFolder

    /// How many songs there are.
    func count() throws -> Int

    /// Commits `changes`, those of single files as one.
    ///
    /// - Returns: how many songs went with removed folders.
    func apply(_ changes: MusicChanges) throws -> Int
}
