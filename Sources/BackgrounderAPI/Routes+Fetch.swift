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
    /// Answers when the run is over.
    package static let runFetch = Route<FetchRunRequest, FetchRun>(.post, "/v1/fetch/{name}/run")
    /// Answers when the run is over.
    package static let simulateFetch = Route<Empty, FetchRun>(.post, "/v1/fetch/{name}/simulate")
    package static let openFetch = Route<Empty, FetchSource>(.post, "/v1/fetch/{name}/open")
    package static let clearFetch = Route<Empty, FetchSource>(.post, "/v1/fetch/{name}/clear")
    /// `last=N`; oldest first.
    package static let fetchRuns = Route<Empty, [FetchRun]>(.get, "/v1/fetch/{name}/runs")
    /// Of a feed, in its order.
    package static let fetchItems = Route<Empty, [FetchItem]>(.get, "/v1/fetch/{name}/items")
    package static let fetchPlan = Route<Empty, [PlanEntry]>(.get, "/v1/fetch-plan")
    package static let refresh = Route<Empty, RefreshReply>(.get, "/v1/refresh")
    package static let changeRefresh = Route<RefreshChange, RefreshReply>(.patch, "/v1/refresh")

    /// The bytes of the last content, as they came.
    package static let fetchContentPath = "/v1/fetch/{name}/content"
}

/// `PATCH /v1/fetch/{name}`: what is absent stays as it is.
package struct FetchSourceChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var interval: FetchInterval?
    /// Seconds.
    package var budget: Double?

    package init(interval: FetchInterval? = nil, budget: Double? = nil) {
        self.interval = interval
        self.budget = budget
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case interval, budget
    }
}

/// `POST /v1/fetch/{name}/run`: `manual` where no trigger is given.
package struct FetchRunRequest: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    /// Who may ask for a run over the socket; others happen in the service.
    package enum Trigger: String, Codable, CaseIterable, Sendable {
        case manual, launch
    }

    package var trigger: Trigger?

    package init(trigger: Trigger? = nil) {
        self.trigger = trigger
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case trigger
    }
}

/// `PATCH /v1/refresh`: the switch of all sources, or that of one.
package struct RefreshChange: RouteBody, Hashable {
    package static let keys = CodingKeys.allCases.map(\.rawValue)

    package var enabled: Bool
    /// A name; all where it is absent.
    package var source: String?
    /// With `enabled` false and a source: only until somebody opens the next time.
    package var untilOpen: Bool?

    package init(enabled: Bool, source: String? = nil, untilOpen: Bool? = nil) {
        self.enabled = enabled
        self.source = source
        self.untilOpen = untilOpen
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case enabled, source, untilOpen
    }
}

/// Whether the service may fetch in the background, and each source.
package struct RefreshReply: Codable, Hashable, Sendable {
    package struct Source: Codable, Hashable, Sendable {
        package var source: String
        package var status: RefreshStatus

        package init(source: String, status: RefreshStatus) {
            self.source = source
            self.status = status
        }
    }

    package var status: RefreshStatus
    package var sources: [Source]

    package init(status: RefreshStatus, sources: [Source]) {
        self.status = status
        self.sources = sources
    }
}
