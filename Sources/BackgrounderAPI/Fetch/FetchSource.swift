package import FoundationEssentials
import SystemSupport

/// A source of background fetch.
package struct FetchSource: Codable, Hashable, Sendable {
    package var name: String
    /// Whether the configuration file declares it, so that commands can neither change nor remove it.
    package var declared: Bool
    package var kind: FetchKind
    /// Absent for a source by command.
    package var url: String?
    /// The program and its arguments; absent for a source by URL.
    package var command: [String]?
    package var interval: FetchInterval
    /// The time limit of a run, in seconds.
    package var budget: Double
    package var state: FetchState
    /// Whether it may run in the background, in the words of a phone's switch.
    package var refresh: RefreshStatus
    /// When its content last changed; absent before the first time.
    package var updated: Date?
    /// The folder for its enclosures; absent if they are not downloaded.
    package var download: String?
    /// The earliest time of the next automatic run; absent if there is none.
    package var next: Date?
    /// Why then, or why never, in one sentence.
    package var why: String?
    /// Consecutive failures.
    package var failures: Int
    /// Why the last run failed; absent if it did not fail.
    package var lastError: String?
    /// New items since the last open.
    package var unseen: Int
    /// The planned runs per day that it has earned by being quick; absent unless the interval is `minimum`.
    package var runsPerDay: Int?
    /// The current run; absent if there is none.
    package var pending: PendingFetch?

    /// Creates a fetch source.
    package init(
        name: String,
        declared: Bool = false,
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
        lastError: String? = nil,
        unseen: Int = 0,
        runsPerDay: Int? = nil,
        pending: PendingFetch? = nil
    ) {
        self.name = name
        self.declared = declared
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
        self.lastError = lastError
        self.unseen = unseen
        self.runsPerDay = runsPerDay
        self.pending = pending
    }
}

/// A run in progress.
package struct PendingFetch: Codable, Hashable, Sendable {
    /// The id of its ``FetchRun``.
    package var id: Int
    /// When it began.
    package var at: Date

    /// Creates a pending fetch.
    package init(id: Int, at: Date) {
        self.id = id
        self.at = at
    }
}

/// How the content is interpreted.
package enum FetchKind: String, Codable, CaseIterable, Sendable {
    /// RSS 2, Atom or JSON Feed; the content decides which.
    case feed
    /// Uninterpreted bytes.
    case raw
}

/// Whether a source may run in the background.
package enum FetchState: String, Codable, CaseIterable, Sendable {
    case active
    /// Switched off by `refresh off`, by `quit` until the next open, or by a server that answered 410.
    case off
}

/// The switch for background fetches, in UIKit's words for Background App Refresh.
package enum RefreshStatus: String, Codable, CaseIterable, Sendable {
    case available
    /// Switched off.
    case denied
    /// The mode is not declared, and no client is attached.
    case restricted
}

/// How often a source is fetched automatically. In JSON `"never"`, `"minimum"` or seconds.
package enum FetchInterval: Hashable, Sendable {
    case never
    /// The service decides, from the times of opens.
    case minimum
    /// The least time between two runs in seconds, at least 60.
    case custom(Double)
}

extension FetchInterval: Codable {
    /// Decodes `"never"`, `"minimum"` or seconds.
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
                debugDescription:
                    "\(other?.debugDescription ?? "this") is not an interval; use never, minimum or seconds"
            )
        }
    }

    /// Encodes `"never"`, `"minimum"` or seconds.
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
    /// The HTTP status, or the command's exit status.
    package var status: Int?
    /// The size of the body as it was received.
    package var bytes: Int?
    /// Why it failed; absent otherwise.
    package var reason: String?
    /// A remark about a run that did not fail, such as that a feed was too long.
    package var note: String?

    /// Creates a fetch run.
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
    /// The result in the words of the log, without the source.
    package var lines: [String] {
        let words =
            switch result {
            case .newData: "New data was fetched."
            case .noData: "No new data found."
            case .failed: "Failed to fetch new data."
            case nil: "The fetch is running."
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
    /// The service was awake for another reason.
    case ride
    case push
    /// A rule of a place names it.
    case place
    /// `fetch simulate`.
    case simulate
    /// `fetch run`.
    case manual
    /// `backgrounderd --launch-for-fetch`.
    case launch
}

/// The result of a run.
package enum FetchResult: String, Codable, CaseIterable, Sendable {
    case newData, noData, failed
}

/// An entry of a feed.
package struct FetchItem: Codable, Hashable, Sendable {
    /// The id in the feed, or the link, or a digest of the entry.
    package var id: String
    package var title: String?
    package var link: String?
    package var published: Date?

    /// Creates a fetch item.
    package init(id: String, title: String? = nil, link: String? = nil, published: Date? = nil) {
        self.id = id
        self.title = title
        self.link = link
        self.published = published
    }
}

/// A planned run.
package struct PlanEntry: Codable, Hashable, Sendable {
    package var source: String
    package var at: Date
    package var why: String

    /// Creates a plan entry.
    package init(source: String, at: Date, why: String) {
        self.source = source
        self.at = at
        self.why = why
    }
}
