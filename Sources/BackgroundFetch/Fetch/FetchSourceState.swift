package import FoundationEssentials
package import WebSupport

/// The state of a source, which survives restarts of the service.
package struct FetchSourceState: Codable, Hashable, Sendable {
    /// When the source was added; bounds count from here before the first run.
    package var since: Date
    package var lastBegan: Date?
    package var lastEnded: Date?
    /// When the content last changed.
    package var updated: Date?
    /// The validators of the stored content.
    package var validators: FetchValidators?
    /// The SHA-256 digest of the stored content.
    package var digest: Data?
    /// The earliest time of the next automatic fetch that the server allows.
    package var serverFloor: Date?
    /// Seconds for which content stays fresh, as the server or the feed last stated.
    package var freshness: Double?
    /// Seconds for which the stored feed asks not to be fetched again.
    package var timeToLive: Double?
    /// The earliest time of the next automatic fetch after failures.
    package var retryAt: Date?
    /// Failures in a row.
    package var failures = 0
    /// Why the last run failed; `nil` if it did not fail. A run that was cancelled does not count.
    package var lastError: String?
    /// Switched off by `refresh off NAME`.
    package var isOff = false
    /// Switched off by `quit NAME`, until the next open.
    package var hasQuit = false
    /// Whether the server answered with status 410.
    package var isGone = false
    /// Seconds of the last runs, oldest first. Runs that were cancelled or found no network do not count.
    package var durations: [Double] = []
    /// For each of ``durations``: whether the run exceeded its budget.
    package var wasKilled: [Bool] = []
    /// The credit that the source has earned with its planned runs.
    package var credit = FetchCredit()
    /// When runs exceeded their budget, in the last two days.
    package var kills: [Date] = []
    /// When planned runs began, in the last day.
    package var automaticRuns: [Date] = []
    /// The URLs of enclosures that wait for their handover to the transfers.
    package var downloads: [String] = []
    /// The scope of the server that named all of ``downloads``; `nil` for the Internet.
    package var downloadScope: AddressScope?

    /// Creates the state of a source that was added at `since`.
    package init(since: Date) {
        self.since = since
    }

    /// When the last run began or ended, or else when the source was added.
    var lastAttempt: Date {
        max(lastEnded ?? since, lastBegan ?? since, since)
    }

    /// When the last run began, or else when the source was added.
    var lastBegin: Date { max(lastBegan ?? since, since) }

    /// How many of ``durations`` are of runs that exceeded their budget.
    var killsAmongDurations: Int { wasKilled.count { $0 } }

    /// The 95th percentile of ``durations`` in seconds.
    var usualDuration: Double {
        percentile(0.95)
    }

    /// Returns a percentile of ``durations``; 0 if there are none.
    func percentile(_ share: Double) -> Double {
        let sorted = durations.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))]
    }
}

/// The validators of a reply, with which a later request asks whether the content has changed (RFC 9110, 13.1). They
/// are sent back byte for byte.
package struct FetchValidators: Codable, Hashable, Sendable {
    /// The URL of the content, after redirects. The validators apply only to this URL.
    package var url: String
    /// The value of `ETag`.
    package var entityTag: String?
    /// The value of `Last-Modified`.
    package var lastModified: String?

    /// Creates the validators of the content at `url`.
    package init(url: String, entityTag: String?, lastModified: String?) {
        self.url = url
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Returns the validators of a 304 response, completed with those of the stored reply (RFC 9111, 4.3.4).
    ///
    /// If the 304 has another entity tag than the stored reply, it does not refer to that reply and nothing is added.
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
