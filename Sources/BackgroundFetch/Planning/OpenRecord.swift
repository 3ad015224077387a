package import FoundationEssentials

/// That somebody looked: a client attached, or `fetch open`.
package struct OpenRecord: Codable, Hashable, Sendable {
    package var at: Date
    /// How far the local time was ahead of UTC then, in seconds: who travels keeps his hours.
    package var secondsFromGMT: Int

    package init(at: Date, secondsFromGMT: Int) {
        self.at = at
        self.secondsFromGMT = secondsFromGMT
    }
}
