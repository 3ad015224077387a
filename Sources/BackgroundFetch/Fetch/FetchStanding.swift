package import FoundationEssentials

/// What the scheduler knows of a source beside its definition; kept as it is across restarts.
package struct FetchStanding: Codable, Hashable, Sendable {
    /// When it was added: bounds count from here before the first run.
    package var since: Date
    package var lastBegan: Date?
    package var lastEnded: Date?
    /// When the content last changed.
    package var updated: Date?
    /// Of the content that is kept.
    package var validators: FetchValidators?
    /// SHA-256 of the content that is kept.
    package var digest: Data?
    /// The server's word: no automatic fetch before.
    package var serverFloor: Date?
    /// Seconds that content stays fresh, as the server last said.
    package var freshness: Double?
    /// Seconds for which the feed that is kept asks not to be read again.
    package var timeToLive: Double?
    /// After failures: no automatic fetch before.
    package var retryAt: Date?
    package var failures = 0
    /// `refresh off NAME`.
    package var isOff = false
    /// `quit NAME`: until the next open.
    package var hasQuit = false
    /// The server said 410.
    package var isGone = false
    /// Seconds of the newest runs that show what one takes, oldest first.
    package var durations: [Double] = []
    /// Which of these were ended at their budget.
    package var wasKilled: [Bool] = []
    /// What quickness and news have earned.
    package var credit = FetchCredit()
    /// When runs were ended at their budget, those of the last two days.
    package var kills: [Date] = []
    /// When automatic runs of the interval `minimum` began, those of the last day.
    package var automaticRuns: [Date] = []
    /// Enclosures that are still to be handed to the transfers.
    package var downloads: [String] = []
    /// Of the server that named all of ``downloads``; absent for the Internet.
    package var downloadScope: AddressScope?

    package init(since: Date) {
        self.since = since
    }

    /// When it was last tried, or added.
    var lastAttempt: Date {
        max(lastEnded ?? since, lastBegan ?? since, since)
    }

    /// When it was last begun, or added.
    var lastBegin: Date { max(lastBegan ?? since, since) }

    var killsAmongDurations: Int { wasKilled.count { $0 } }

    /// The time that nearly all runs take.
    var usualDuration: Double {
        percentile(0.95)
    }

    func percentile(_ share: Double) -> Double {
        let sorted = durations.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))]
    }
}

/// What a server gave to ask it later whether the content is still the same; sent back byte for byte (RFC 9110, 13.1).
package struct FetchValidators: Codable, Hashable, Sendable {
    /// The address that the content came from, after redirects: another one's validators mean nothing there.
    package var url: String
    package var entityTag: String?
    package var lastModified: String?

    package init(url: String, entityTag: String?, lastModified: String?) {
        self.url = url
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Those of a 304, with those of the stored reply that it does not repeat (RFC 9111, 4.3.4). A 304 with another tag than the
    /// stored one is not about that reply.
    func completed(by stored: FetchValidators?) -> FetchValidators {
        guard let stored, stored.url == url,
            entityTag == nil || stored.entityTag == nil || entityTag == stored.entityTag
        else { return self }
        return FetchValidators(
            url: url,
            entityTag: entityTag ?? stored.entityTag,
            lastModified: lastModified ?? stored.lastModified
        )
    }
}
