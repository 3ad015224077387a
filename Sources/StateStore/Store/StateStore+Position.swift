package import BackgrounderAPI

extension StateStore {
    /// Saves `position` over the previous one; if that fails, retries until it is saved or another one is. Blocks the
    /// calling thread while the disk works.
    ///
    /// - Throws: ``StateStoreError`` if the position file cannot be written.
    package func save(_ position: PlayerPosition) throws(StateStoreError) {
        do {
            try positionFile.write(position)
            monitor.succeeded(.position)
        } catch {
            if case .failed(_, _, let code?) = error {
                monitor.failed(.position, StorageFailure(code: code), file: positionFile.path)
            }
            sync.somethingWaits(for: .seconds(1))
            throw error
        }
    }

    /// Returns the position that was saved last; `nil` if there is none. Blocks the calling thread.
    package func position() -> PlayerPosition? { positionFile.read() }
}
