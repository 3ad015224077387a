import BackgrounderAPI

/// The calls of the live view to the service. Each kind has a task of its own that makes one call after the other, so that
/// the view continues even if the service does not reply. Results go to the inbox.
final class ViewCalls: Sendable {
    private let requests: AsyncStream<KeyRequest>.Continuation
    private let pages: AsyncStream<Int>.Continuation
    private let locations: AsyncStream<Void>.Continuation
    private let tasks: [Task<Void, Never>]

    init(_ client: Client, _ inbox: ViewInbox) {
        let requests = AsyncStream.makeStream(of: KeyRequest.self, bufferingPolicy: .bufferingOldest(16))
        let pages = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
        let locations = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.requests, self.pages, self.locations) = (
            requests.continuation, pages.continuation, locations.continuation
        )
        tasks = [
            Task {
                for await request in requests.stream {
                    do {
                        try await client.send(request)
                    } catch let failure as CommandFailure {
                        inbox.post(.refused(failure))
                    } catch {
                        inbox.post(.refused(CommandFailure("\(error)")))
                    }
                }
            },
            Task {
                for await id in pages.stream {
                    // If the service does not reply, the view shows the page that it has.
                    if let items = try? await client.items(around: id) as [PlayerItem]?? {
                        inbox.post(.page(items, around: id))
                    }
                }
            },
            Task {
                for await _ in locations.stream {
                    if let location = try? await client.call(Routes.location) { inbox.post(.location(location)) }
                    // A replay has hundreds of points a second.
                    try? await Task.sleep(for: .seconds(1))
                }
            },
        ]
    }

    func send(_ request: KeyRequest) { requests.yield(request) }

    func readPage(around id: Int) { pages.yield(id) }

    /// Reads the counters and the trip, at most once a second.
    func readLocation() { locations.yield() }

    func end() {
        for task in tasks { task.cancel() }
    }
}
