package import BackgrounderAPI
import FoundationEssentials
import WebSupport

/// The items that a source has contained so far, by digests of their ids. It is stored together with the content.
///
///     var seen = SeenItems()
///     seen.insert(feed.items)   // all of them
///     seen.insert(feed.items)   // []
package struct SeenItems: Hashable, Sendable {
    /// Digests of the ids, each once; those of the latest items come last.
    private var digests: [UInt64] = []

    /// Creates an empty list: all items will be new.
    package init() {}

    /// The number of items that are remembered.
    package var count: Int { digests.count }

    /// Returns the new ones of `items`, in their order and each once, and remembers all of them.
    ///
    /// An item that reappears or changes its place is not new. In addition to `items`, the last 5000 earlier ones are
    /// remembered, so an empty list makes it forget nothing.
    package mutating func insert(_ items: [FetchItem]) -> [FetchItem] {
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
        // Sorted, so that the same items in another order make an equal value.
        let gone = digests.filter { !present.contains($0) }
        digests = gone.suffix(FeedLimits.remembered) + order.sorted()
        return new
    }
}

extension SeenItems: Codable {
    /// Decodes a Base64 string of 8 bytes for each item.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let data = Data(base64Encoded: try container.decode(String.self)), data.count % 8 == 0
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not a list of seen items"
            )
        }
        let bytes = Array(data)
        digests = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Encodes a Base64 string of 8 bytes for each item, the most significant byte first.
    package func encode(to encoder: any Encoder) throws {
        let bytes = digests.flatMap { digest in
            (0..<8).map { UInt8(truncatingIfNeeded: digest >> (56 - 8 * $0)) }
        }
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes).base64EncodedString())
    }
}
