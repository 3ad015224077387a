package import FoundationEssentials

/// An open of a source: a client attached, or `fetch open` was called.
package struct OpenRecord: Codable, Hashable, Sendable {
    package var at: Date
    /// Seconds by which local time was ahead of UTC. It is stored because the habits of a traveller follow local time.
    package var secondsFromGMT: Int

    /// Creates the record of an open at `at`, with the offset from UTC at that time.
    package init(at: Date, secondsFromGMT: Int) {
        self.at = at
        self.secondsFromGMT = secondsFromGMT
    }
}
