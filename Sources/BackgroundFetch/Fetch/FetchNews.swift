import BackgrounderAPI
import FoundationEssentials

/// What a reply means for its source.
struct FetchNews: Sendable {
    var result: FetchResult
    /// How much of it nobody has seen.
    var unseen = 0
    /// To be kept; `nil` where what is kept stays.
    var content: FetchContent?
    var seen: Data?
    var digest: Data?
    /// Seconds for which a feed asks not to be read again.
    var timeToLive: Double?
    /// What there is to say of it.
    var note: String?
    /// The files that belong to the new items.
    var enclosures: [String] = []

    static let none = FetchNews(result: .noData)

    /// Pure, and as long as the content: not for an event loop.
    ///
    /// - Parameters:
    ///   - digest: of the content that is kept.
    ///   - seen: what was kept with it.
    /// - Throws: where a feed is none.
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
            let new = items.take(feed.items)
            let ids = Set(new.map(\.id))
            self.init(result: new.isEmpty ? .noData : .newData, unseen: new.count)
            content = FetchContent(
                bytes: bytes,
                mediaType: mediaType,
                items: Array(feed.items.prefix(FetchJudgement.itemLimit))
            )
            self.seen = try? JSON.encode(items)
            timeToLive = feed.timeToLive
            if feed.isCut {
                note =
                    "The feed has more than \(FeedLimits.entries) entries; the first \(FeedLimits.entries) are taken."
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
    /// What `reply` means; read on a thread where it holds nobody up.
    func read(_ reply: FetchReply, of source: Source) async throws(FetchFailure) -> FetchNews {
        guard case .content = reply.body else { return .none }
        let (definition, digest) = (source.definition, source.standing.digest)
        var seen: Data?
        if definition.kind == .feed {
            do {
                seen = try await journal.seen(definition.name)
            } catch {
                throw FetchFailure("what was seen before cannot be read: \(error)")
            }
        }
        return try await ContentQueue.run { [seen] () throws(FetchFailure) in
            try FetchNews(reply, of: definition, digest: digest, seen: seen)
        }.get()
    }
}
