package import FoundationEssentials

/// Something that is fetched in the background.
package struct FetchSource: Codable, Hashable, Sendable {
    package var name: String
    package var kind: FetchKind
    /// Absent for a source by command.
    package var url: String?
    /// The program and its arguments; absent for a source by URL.
    package var command: [String]?
    package var interval: FetchInterval
    /// Seconds for one run.
    package var budget: Double
    package var state: FetchState
    /// Whether it may run by itself, as the switches of a phone say it.
    package var refresh: RefreshStatus
    /// When its content last changed; absent before the first time.
    package var updated: Date?
    /// The folder that its enclosures go to.
    package var download: String?
    /// When it runs next by itself, at the earliest; absent when never.
    package var next: Date?
    /// Why then, or why never: one sentence.
    package var why: String?
    /// Failures in a row.
    package var failures: Int
    /// New items that nobody has seen.
    package var unseen: Int
    /// Background runs that its quickness earns it a day.
    package var runsPerDay: Int?
    /// The run that is under way.
    package var pending: PendingFetch?

    package init(
        name: String,
        kind: FetchKind,
        url: String? = nil,
        command: [String]? = nil,
        interval: FetchInterval = .never,
        budget: Double = 30,
        state: FetchState = .active,
        refresh: RefreshStatus = .available,
        updated: Date? = nil,
        download: String? = nil,
        next: Date? = nil,
        why: String? = nil,
        failures: Int = 0,
        unseen: Int = 0,
        runsPerDay: Int? = nil,
        pending: PendingFetch? = nil
    ) {
        self.name = name
        self.kind = kind
        self.url = url
        self.command = command
        self.interval = interval
        self.budget = budget
        self.state = state
        self.refresh = refresh
        self.updated = updated
        self.download = download
        self.next = next
        self.why = why
        self.failures = failures
        self.unseen = unseen
        self.runsPerDay = runsPerDay
        self.pending = pending
    }
}

package struct PendingFetch: Codable, Hashable, Sendable {
    /// Of its ``FetchRun``.
    package var id: Int
    package var at: Date

    package init(id: Int, at: Date) {
        self.id = id
        self.at = at
    }
}

/// What the content is read as.
package enum FetchKind: String, Codable, CaseIterable, Sendable {
    /// RSS 2, Atom or JSON Feed; the content decides which.
    case feed
    /// Bytes.
    case raw
}

package enum FetchState: String, Codable, CaseIterable, Sendable {
    case active
    /// Switched off, by `refresh off`, by `quit` until the next open, or by a server that said 410.
    case off
}

/// The switch for running in the background, in UIKit's words for Background App Refresh.
package enum RefreshStatus: String, Codable, CaseIterable, Sendable {
    case available
    /// Switched off.
    case denied
    /// The mode is not declared.
    case restricted
}

/// How often a source is fetched by itself. In JSON `"never"`, `"minimum"` or seconds.
package enum FetchInterval: Hashable, Sendable {
    case never
    /// The service decides, from when its user opens.
    case minimum
    /// Seconds, at least 60: never sooner than so long after the last run.
    case custom(Double)
}

extension FetchInterval: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let seconds = try? container.decode(Double.self) {
            self = .custom(seconds)
            return
        }
        switch try? container.decode(String.self) {
        case "never": self = .never
        case "minimum": self = .minimum
        case let other:
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(other?.debugDescription ?? "this") is no interval: never, minimum or seconds"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .never: try container.encode("never")
        case .minimum: try container.encode("minimum")
        case .custom(let seconds): try container.encode(seconds)
        }
    }
}

/// One run of a source.
package struct FetchRun: Codable, Hashable, Sendable {
    package var id: Int
    package var source: String
    package var trigger: FetchTrigger
    package var began: Date
    /// Absent while it runs.
    package var ended: Date?
    /// Seconds.
    package var duration: Double?
    package var result: FetchResult?
    /// HTTP's, or the command's exit status.
    package var status: Int?
    /// Of the body, as they came.
    package var bytes: Int?
    /// Why it failed.
    package var reason: String?
    /// What there is to say of one that did not fail, such as that a feed was too long.
    package var note: String?

    package init(
        id: Int,
        source: String,
        trigger: FetchTrigger,
        began: Date,
        ended: Date? = nil,
        duration: Double? = nil,
        result: FetchResult? = nil,
        status: Int? = nil,
        bytes: Int? = nil,
        reason: String? = nil,
        note: String? = nil
    ) {
        self.id = id
        self.source = source
        self.trigger = trigger
        self.began = began
        self.ended = ended
        self.duration = duration
        self.result = result
        self.status = status
        self.bytes = bytes
        self.reason = reason
        self.note = note
    }
}

extension FetchRun {
    /// How it went, in the words of the log, without its source.
    package var lines: [String] {
        let words =
            switch result {
            case .newData: "New data was fetched."
            case .noData: "No new data found."
            case .failed: "Failed to fetch new data."
            case nil: "It is under way."
            }
        guard let duration else { return [words] }
        return [words, "Background Fetch Duration: \(duration.decimals(6)) seconds"] + [note].compactMap(\.self)
    }
}

/// Why a run began.
package enum FetchTrigger: String, Codable, CaseIterable, Sendable {
    /// Its interval was over.
    case due
    /// Planned to end just before the user opens.
    case predicted
    /// The service was awake for something else.
    case ride
    case push
    /// `fetch simulate`.
    case simulate
    /// `fetch run`.
    case manual
    /// `backgrounderd --launch-for-fetch`.
    case launch
}

package enum FetchResult: String, Codable, CaseIterable, Sendable {
    case newData, noData, failed
}

/// An entry of a feed.
package struct FetchItem: Codable, Hashable, Sendable {
    /// The feed's own, else its link, else a digest of the entry.
    package var id: String
    package var title: String?
    package var link: String?
    package var published: Date?

    package init(id: String, title: String? = nil, link: String? = nil, published: Date? = nil) {
        self.id = id
        self.title = title
        self.link = link
        self.published = published
    }
}

/// A run that is planned.
package struct PlanEntry: Codable, Hashable, Sendable {
    package var source: String
    package var at: Date
    package var why: String

    package init(source: String, at: Date, why: String) {
        self.source = source
        self.at = at
        self.why = why
    }
}
