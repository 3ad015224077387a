import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import WebSupport

/// The new data in a reply.
struct FetchNews: Sendable {
    var result: FetchResult
    /// The number of new items.
    var unseen = 0
    /// The content to store; `nil` if the stored content stays.
    var content: FetchContent?
    /// The encoded ``SeenItems`` to store with the content.
    var seen: Data?
    /// The digest of the content; `nil` if the content did not change.
    var digest: Data?
    /// Seconds for which a feed asks not to be fetched again.
    var timeToLive: Double?
    /// A remark for the user, as one line.
    var note: String?
    /// The URLs of the enclosures of new items; empty unless the source downloads them.
    var enclosures: [String] = []

    static let none = FetchNews(result: .noData)

    /// Compares a reply with the stored content. A pure function, but its time grows with the content: do not call it
    /// on an event loop.
    ///
    /// - Parameters:
    ///   - digest: the digest of the stored content.
    ///   - seen: the seen items that are stored with it.
    /// - Throws: ``FetchFailure`` if a feed cannot be read.
    init(_ reply: FetchReply, of source: FetchDefinition, digest: Data?, seen: Data?) throws(FetchFailure) {
        guard case .content(let bytes, let mediaType) = reply.body else {
            self = .none
            return
        }
        let newDigest = Digest.bytes(bytes)
        if newDigest == digest, !reply.isSurelyNew {
            self = .none
            return
        }
        switch source.kind {
        case .raw:
            self.init(result: .newData, unseen: 1, content: FetchContent(bytes: bytes, mediaType: mediaType))
        case .feed:
            let feed: Feed
            do {
                feed = try FeedReader.read(Array(bytes), base: reply.validators?.url ?? source.url)
            } catch {
                throw FetchFailure(error.description, status: reply.status, bytes: reply.bytes)
            }
            var items = seen.flatMap { try? JSON.decode(SeenItems.self, from: $0) } ?? SeenItems()
            let new = items.insert(feed.items)
            let ids = Set(new.map(\.id))
            self.init(result: new.isEmpty ? .noData : .newData, unseen: new.count)
            content = FetchContent(
                bytes: bytes,
                mediaType: mediaType,
                items: Array(feed.items.prefix(FetchLimits.itemLimit))
            )
            self.seen = try? JSON.encode(items)
            timeToLive = feed.timeToLive
            if feed.isCut {
                note =
                    "The feed has more than \(FeedLimits.entries) entries; the first \(FeedLimits.entries) were read"
            }
            if source.download != nil {
                enclosures = feed.entries.filter { ids.contains($0.item.id) }.flatMap { $0.enclosures.map(\.url) }
            }
        }
        self.digest = newDigest
    }

    private init(result: FetchResult, unseen: Int = 0, content: FetchContent? = nil) {
        self.result = result
        self.unseen = unseen
        self.content = content
    }
}

extension FetchScheduler {
    /// Compares `reply` with the stored content, on the queue for content.
    func read(_ reply: FetchReply, of source: Source) async throws(FetchFailure) -> FetchNews {
        guard case .content = reply.body else { return .none }
        let (definition, digest) = (source.definition, source.state.digest)
        var seen: Data?
        if definition.kind == .feed {
            do {
                seen = try await journal.seen(definition.name)
            } catch {
                throw FetchFailure("cannot load the list of seen items: \(error)")
            }
        }
        return try await QueueExecutor.content.run { [seen] () throws(FetchFailure) in
            try FetchNews(reply, of: definition, digest: digest, seen: seen)
        }
    }
}
