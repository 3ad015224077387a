package import FoundationEssentials

/// A step of what the fetch mode keeps. Steps that are saved together are one transaction.
package enum FetchChange: Sendable {
    case added(FetchDefinition, standing: Data)
    case changed(FetchDefinition)
    /// With all that belongs to it.
    case removed(String)
    /// The mode's own words on how a source stands, and how much of it nobody has seen.
    case standing(String, Data, unseen: Int)
    case began(FetchRun)
    case ended(FetchRun)
    /// `seen` is the mode's own record of a feed's items.
    case content(String, FetchContent, seen: Data?)
    /// Its content is forgotten.
    case cleared(String)
    /// Somebody looked at these sources.
    case opened([String], FetchOpen)
}

/// What a source gave last.
package struct FetchContent: Sendable, Hashable {
    package var bytes: Data
    /// As the server named it.
    package var mediaType: String?
    /// Of a feed, in its order.
    package var items: [FetchItem]

    package init(bytes: Data, mediaType: String? = nil, items: [FetchItem] = []) {
        self.bytes = bytes
        self.mediaType = mediaType
        self.items = items
    }
}

/// That somebody looked, and where the clock on the wall stood.
package struct FetchOpen: Hashable, Sendable {
    package var at: Date
    /// Of the local zone then.
    package var secondsFromGMT: Int

    package init(at: Date, secondsFromGMT: Int) {
        self.at = at
        self.secondsFromGMT = secondsFromGMT
    }
}
