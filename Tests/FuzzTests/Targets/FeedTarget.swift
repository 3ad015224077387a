import BackgrounderAPI

@testable import BackgroundFetch

/// Reads a feed, and checks its limits and that its enclosures can be fetched.
enum FeedTarget {
    static func run(_ bytes: [UInt8]) {
        guard let feed = try? FeedReader.read(bytes, base: "https://example.com/feed.xml") else { return }
        precondition(feed.entries.count <= FeedLimits.entries)
        for entry in feed.entries {
            precondition(!entry.item.id.isEmpty && entry.item.id.utf8.count <= FeedLimits.id)
            precondition((entry.item.title ?? "").unicodeScalars.count <= FeedLimits.title + 1)
            precondition(entry.enclosures.count <= FeedLimits.enclosures)
            for enclosure in entry.enclosures {
                let url = enclosure.url.lowercased()
                precondition(url.hasPrefix("http://") || url.hasPrefix("https://"))
            }
        }
    }
}
