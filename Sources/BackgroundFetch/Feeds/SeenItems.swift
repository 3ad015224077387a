package import BackgrounderAPI
import FoundationEssentials

/// Which items of a source were there before. A value: the source stores it with the content that it belongs to.
///
///     var seen = SeenItems()
///     seen.take(feed.items)   // all of them
///     seen.take(feed.items)   // []
package struct SeenItems: Hashable, Sendable {
    /// Of the ids, those that were there last at the end, each once.
    private var digests: [UInt64] = []

    package init() {}

    package var count: Int { digests.count }

    /// Those of `items` that were never there before, in their order, each once. They count as seen from now on.
    ///
    /// Items that return or change places are not new. Beside those of `items`, at least 5000 are remembered; an empty list
    /// makes nothing forgotten.
    package mutating func take(_ items: [FetchItem]) -> [FetchItem] {
        let known = Set(digests)
        var present: Set<UInt64> = []
        var order: [UInt64] = []
        var new: [FetchItem] = []
        for item in items {
            let digest = Digest.short(item.id)
            guard present.insert(digest).inserted else { continue }
            order.append(digest)
            if !known.contains(digest) { new.append(item) }
        }
        // The order in the feed says nothing: sorted, the same items make the same value.
        let gone = digests.filter { !present.contains($0) }
        digests = gone.suffix(FeedLimits.remembered) + order.sorted()
        return new
    }
}

extension SeenItems: Codable {
    /// One text of 8 bytes an item.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)), data.count % 8 == 0
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not what was seen of a feed"
            )
        }
        let bytes = Array(data)
        digests = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        let bytes = digests.flatMap { digest in
            (0..<8).map { UInt8(truncatingIfNeeded: digest >> (56 - 8 * $0)) }
        }
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
