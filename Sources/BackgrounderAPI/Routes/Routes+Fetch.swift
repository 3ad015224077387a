extension Routes {
    package static let fetchSources = Route<Empty, [FetchSource]>(.get, "/v1/fetch")
    package static let addFetchSource = Route<FetchDefinition, FetchSource>(
        .post,
        "/v1/fetch",
        status: 201,
        access: .execute
    )
    package static let fetchSource = Route<Empty, FetchSource>(.get, "/v1/fetch/{name}")
    package static let changeFetchSource = Route<FetchSourceChange, FetchSource>(.patch, "/v1/fetch/{name}")
    package static let removeFetchSource = Route<Empty, Empty>(.delete, "/v1/fetch/{name}", status: 204)
    /// Replies when the run is over.
    package static let runFetch = Route<FetchRunRequest, FetchRun>(.post, "/v1/fetch/{name}/run")
    /// Replies when the run is over.
    package static let simulateFetch = Route<Empty, FetchRun>(.post, "/v1/fetch/{name}/simulate")
    package static let openFetch = Route<Empty, FetchSource>(.post, "/v1/fetch/{name}/open")
    package static let clearFetch = Route<Empty, FetchSource>(.post, "/v1/fetch/{name}/clear")
    /// The newest runs, oldest first; `last=N` is their number.
    package static let fetchRuns = Route<Empty, [FetchRun]>(.get, "/v1/fetch/{name}/runs")
    /// The items of a feed, in its order.
    package static let fetchItems = Route<Empty, [FetchItem]>(.get, "/v1/fetch/{name}/items")
    package static let fetchPlan = Route<Empty, [PlanEntry]>(.get, "/v1/fetch-plan")
    package static let refresh = Route<Empty, RefreshReply>(.get, "/v1/refresh")
    package static let changeRefresh = Route<RefreshChange, RefreshReply>(.patch, "/v1/refresh")

    /// The content of the last fetch, byte for byte.
    package static let fetchContentPath = "/v1/fetch/{name}/content"
}

/// The body of `PATCH /v1/fetch/{name}`; absent fields stay unchanged.
package struct FetchSourceChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var interval: FetchInterval?
    /// Seconds.
    package var budget: Double?

    /// Creates a fetch source change.
    package init(interval: FetchInterval? = nil, budget: Double? = nil) {
        self.interval = interval
        self.budget = budget
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case interval, budget
    }
}

/// The body of `POST /v1/fetch/{name}/run`.
package struct FetchRunRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// The triggers that a client can name; the default is `manual`.
    package enum Trigger: String, Codable, CaseIterable, Sendable {
        case manual, launch
    }

    package var trigger: Trigger?

    /// Creates a fetch run request.
    package init(trigger: Trigger? = nil) {
        self.trigger = trigger
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case trigger
    }
}

/// The body of `PATCH /v1/refresh`: sets the switch of all sources, or of one.
package struct RefreshChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var enabled: Bool
    /// The name of a source; absent for all.
    package var source: String?
    /// With `enabled` false and a source: whether the switch turns on again at the next open.
    package var untilOpen: Bool?

    /// Creates a refresh change.
    package init(enabled: Bool, source: String? = nil, untilOpen: Bool? = nil) {
        self.enabled = enabled
        self.source = source
        self.untilOpen = untilOpen
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case enabled, source, untilOpen
    }
}

/// The switches for background fetches: of the service and of each source.
package struct RefreshReply: Codable, Hashable, Sendable {
    /// The switch of one source.
    package struct Source: Codable, Hashable, Sendable {
        package var source: String
        package var status: RefreshStatus

        /// Creates a source.
        package init(source: String, status: RefreshStatus) {
            self.source = source
            self.status = status
        }
    }

    package var status: RefreshStatus
    package var sources: [Source]

    /// Creates a refresh reply.
    package init(status: RefreshStatus, sources: [Source]) {
        self.status = status
        self.sources = sources
    }
}
