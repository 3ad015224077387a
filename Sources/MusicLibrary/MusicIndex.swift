package import BackgrounderAPI

/// Stores the songs of the music library. Called on the library's thread; may wait for a disk.
package protocol MusicIndex: Sendable {
    /// Opens the index of `directory`; empties one of another directory.
    func open(directory: String) throws

    /// Returns the stored state of a folder.
    func folder(_ path: String) throws -> MusicFolder

    /// Returns the number of songs.
    func count() throws -> Int

    /// Commits `changes`; those of single files in one transaction.
    ///
    /// - Returns: the number of songs in the removed folders.
    func apply(_ changes: MusicChanges) throws -> Int
}
