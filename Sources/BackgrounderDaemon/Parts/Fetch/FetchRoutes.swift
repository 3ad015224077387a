package import BackgroundFetch
package import BackgrounderAPI
import ControlServer
import StateStore
import WebSupport

extension FetchPart {
    func addRoutes(to router: inout ControlRouter) {
        router.on(Routes.fetchSources) { _ in await scheduler.list() }
        router.on(Routes.addFetchSource) { request in
            try await check(request.body)
            return try await scheduler.add(request.body)
        }
        router.on(Routes.fetchSource) { request in try await scheduler.source(request.name) }
        router.on(Routes.changeFetchSource) { request in try await scheduler.change(request.name, request.body) }
        router.on(Routes.removeFetchSource) { request in
            try await scheduler.remove(request.name)
            return Empty()
        }
        router.on(Routes.openFetch) { request in try await scheduler.open(request.name) }
        router.on(Routes.clearFetch) { request in try await scheduler.clear(request.name) }
        router.on(Routes.fetchPlan) { _ in await scheduler.plan() }
        router.on(Routes.refresh) { _ in await scheduler.refreshStatus() }
        router.on(Routes.changeRefresh) { request in try await scheduler.refresh(request.body) }
        addRunRoutes(to: &router)
        addContentRoutes(to: &router)
    }

    private func addRunRoutes(to router: inout ControlRouter) {
        router.on(Routes.runFetch) { request in
            _ = try await scheduler.source(request.name)
            try context.require(.fetch)
            let trigger: FetchTrigger =
                switch request.body.trigger {
                case .manual, nil: .manual
                case .launch: .launch
                }
            return try await scheduler.run(request.name, trigger)
        }
        router.on(Routes.simulateFetch) { request in
            _ = try await scheduler.source(request.name)
            try context.require(.fetch)
            return try await scheduler.run(request.name, .simulate)
        }
        router.on(Routes.fetchRuns, query: ["last"]) { request in
            _ = try await scheduler.source(request.name)
            let count = try request.query("last").map { text throws(WireError) in
                guard let count = Int(text), (1...500).contains(count) else {
                    throw WireError(.invalid, "last=\(text) is out of range", hint: "use a whole number from 1 to 500")
                }
                return count
            }
            return try await context.store.fetchRuns(of: request.name, last: count ?? 100)
        }
    }

    private func addContentRoutes(to router: inout ControlRouter) {
        router.on(Routes.fetchItems) { request in
            _ = try await scheduler.source(request.name)
            return try await context.store.fetchItems(of: request.name)
        }
        router.onContent(Routes.fetchContentPath) { request in
            _ = try await scheduler.source(request.name)
            guard let content = try await context.store.fetchContent(of: request.name) else {
                throw WireError(
                    .conflict,
                    "\(request.name): Not yet updated",
                    hint: "fetch it now with `backgrounder fetch run \(request.name)`"
                )
            }
            return Content(content.bytes)
        }
    }
}

extension FetchError: WireErrorConvertible {
    /// The error as it crosses the socket.
    package var wireError: WireError {
        switch self {
        case .noSuchSource: WireError(.notFound, description, hint: "`backgrounder fetch list` lists them")
        case .exists:
            WireError(
                .conflict,
                description,
                hint: "use another name, or remove it first with `backgrounder fetch remove`"
            )
        case .declared: WireError(.conflict, description, hint: "change the file, then run `backgrounder reload`")
        case .credentials(.missing): WireError(.notFound, description, hint: "check the path")
        case .invalid, .credentials: WireError(.invalid, description)
        case .tooMany: WireError(.conflict, description, hint: "remove one with `backgrounder fetch remove NAME`")
        case .off: WireError(.conflict, description)
        case .ended: WireError(.unavailable, description, hint: "start it again with `backgrounder start`")
        case .notSaved:
            WireError(.unavailable, description, hint: "check the free space and the mode of the state folder")
        }
    }
}
