import AsyncHTTPClient
import BackgrounderAPI
import FoundationEssentials
import MQTTClient
import NIOCore
import NIOHTTP1
import Synchronization
import SystemSupport
import WebSupport

/// A session with a web server: posts the points of an outbox, each in a request of its own, in order.
///
/// It speaks the HTTP mode of OwnTracks, which OwnTracks Recorder, Traccar and Home Assistant receive.
///
/// Source: <https://owntracks.org/booklet/tech/http/>.
actor PostSession: PublisherSession {
    /// The limits and times. Tuned: HTTP prescribes none of them.
    private enum Limits {
        /// The time that the server has for a reply. Longer than the client's for a connection, which is 10 s.
        static let answer = Duration.seconds(15)
        /// The time for the rest of a reply.
        static let rest = Duration.seconds(1)
        /// Bytes of a reply that are read, so that the connection can be used again.
        static let reply = 64 << 10
    }

    private enum State {
        /// Nothing was sent since the beginning or the last failure.
        case untried
        case connected
        /// Nothing is sent before this time, unless the route changes and the server did not name the time (Retry-After).
        case resting(until: MonotonicTime, isNamed: Bool)
    }

    private let url: WebURL
    private let publisher: StoredPublisher
    private let outbox: PointOutbox
    private let web: WebAccess
    private let clock: any Clock<Duration>
    private let report: @Sendable (SessionReport) -> Void
    /// While the state is ``State/resting(until:isNamed:)``: a changed route may lead to the server.
    private var routes: HostWatch?
    private let isHurried = Atomic(false)
    private let wakeups = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let task = Mutex<Task<Void, Never>?>(nil)
    private var state = State.untried
    private var retry = ReconnectDelay()
    /// The header fields of the credentials; `nil` before the file is read.
    private var credentials: [WebCredentials.Field]?
    /// The outbox reads the history.
    private let executor = QueueExecutor("backgrounder.publish.http")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Begins immediately.
    ///
    /// - Parameter report: called on the actor's executor after the first success and after each failure.
    init(
        _ url: WebURL,
        _ publisher: StoredPublisher,
        outbox: PointOutbox,
        web: WebAccess,
        clock: any Clock<Duration>,
        report: @escaping @Sendable (SessionReport) -> Void
    ) {
        (self.url, self.publisher, self.outbox) = (url, publisher, outbox)
        (self.web, self.clock, self.report) = (web, clock, report)
        wakeups.continuation.yield()
        let run = Task { await self.run() }
        task.withLock { $0 = run }
    }

    nonisolated func wake() { wakeups.continuation.yield() }

    nonisolated func end(forgetting: Bool) {
        wakeups.continuation.finish()
        task.withLock { $0?.cancel() }
    }

    /// Returns immediately: a request that is cancelled is not waited for.
    nonisolated func waitForEnd(until time: MonotonicTime) {}

    private func run() async {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        for await _ in wakeups.stream {
            timer?.cancel()
            guard let time = await work() else { continue }
            timer = Task { [clock, wakeups] in
                guard (try? await clock.sleep(for: max(.zero, MonotonicTime.now.duration(to: time)))) != nil else {
                    return
                }
                wakeups.continuation.yield()
            }
        }
    }

    /// Sends pending points. Returns when to continue if the session is not woken before.
    private func work() async -> MonotonicTime? {
        if case .resting(let time, let isNamed) = state {
            let isHurried = isHurried.exchange(false, ordering: .relaxed)
            if isHurried, !isNamed { retry.reset() } else if .now < time { return time }
        }
        while !Task.isCancelled {
            switch outbox.next(at: .now) {
            case .wait(let time): return time
            case .send(let message):
                do throws(PostFailure) {
                    try await post(message.payload)
                } catch {
                    guard !Task.isCancelled else { return nil }
                    return rest(after: error)
                }
                outbox.acknowledged([message.tag ?? PublisherMessages.noTag], at: .now)
                guard case .connected = state else {
                    connected()
                    continue
                }
            }
        }
        return nil
    }

    /// The first point was a probe. The others are a backlog, which waits for a random time.
    private func connected() {
        (state, routes) = (.connected, nil)
        isHurried.store(false, ordering: .relaxed)
        retry.reset()
        outbox.opened(at: .now)
        report(.connected(deafness: nil))
    }

    private func rest(after failure: PostFailure) -> MonotonicTime {
        outbox.failed()
        credentials = nil
        let now = MonotonicTime.now
        let time = now + (failure.pause ?? retry.next(after: failure.cause, at: now))
        state = .resting(until: time, isNamed: failure.pause != nil)
        if routes == nil {
            routes = HostWatch { [weak self] in
                self?.isHurried.store(true, ordering: .relaxed)
                self?.wake()
            }
        }
        report(.failed(failure.reason, isRefusal: failure.cause == .refused))
        return time
    }

    // MARK: Requests

    private func post(_ payload: [UInt8]) async throws(PostFailure) {
        let request = try await request(payload)
        let server = url.authority
        let response: HTTPClientResponse?
        do {
            response = try await within(Limits.answer) { [web] in try await web.clients.execute(request) }
        } catch {
            let problem = ConnectionProblem(error, to: server)
            throw PostFailure(reason: problem.reason, cause: problem.cause)
        }
        guard let response else { throw PostFailure(reason: "\(server) does not answer") }
        if let failure = PostFailure(response) { throw failure }
        // The server has taken the point, however its reply ends. A connection whose reply was read is used again.
        _ = try? await within(Limits.rest) {
            var count = 0
            for try await piece in response.body {
                count += piece.readableBytes
                if count > Limits.reply { return }
            }
        }
    }

    /// Returns the result of `work`; `nil` if it takes longer.
    private func within<Value: Sendable>(
        _ time: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { [clock] group in
            group.addTask { try await work() }
            group.addTask {
                try await clock.sleep(for: time)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func request(_ payload: [UInt8]) async throws(PostFailure) -> HTTPClientRequest {
        if credentials == nil {
            do throws(CredentialsError) {
                credentials =
                    if let path = publisher.credentials { try await WebCredentials.read(path).fields } else { [] }
            } catch {
                throw PostFailure(reason: error.description, cause: .refused)
            }
        }
        do throws(RedirectError) {
            try await web.policy().forFetch(hasCredentials: publisher.credentials != nil).check(url)
        } catch {
            throw PostFailure(reason: error.description, cause: .refused)
        }
        var request = HTTPClientRequest(url: url.description)
        request.method = .POST
        request.headers.add(name: "User-Agent", value: "Backgrounder/\(Backgrounder.version)")
        request.headers.add(name: "Content-Type", value: "application/json")
        let names = publisher.topic.split(separator: "/")
        for (name, value) in zip(["X-Limit-U", "X-Limit-D"], names.dropFirst()) {
            request.headers.add(name: name, value: String(value))
        }
        for field in credentials ?? [] { request.headers.add(name: field.name, value: field.value) }
        request.body = .bytes(payload)
        return request
    }
}

/// Why a server did not take a point.
private struct PostFailure: Error {
    var reason: String
    /// The cause that selects the next delay.
    var cause = ReconnectDelay.Cause.failed
    /// How long the server asks to wait.
    var pause: Duration?
}

extension PostFailure {
    /// Creates the failure that a reply means; `nil` if the server took the point.
    init?(_ response: HTTPClientResponse) {
        let status = response.status.code
        switch status {
        case 200...299: return nil
        case 300...399:
            let target = response.headers.first(name: "Location").map { " to \($0.prefix(200))" } ?? ""
            self.init(reason: "the server redirects\(target) (\(status)); use that URL", cause: .refused)
        case 401, 403:
            self.init(
                reason: "not authorised (\(status)); check the user and password (--credentials FILE)",
                cause: .refused
            )
        case 408, 425, 429, 500...599:
            self.init(
                reason: "the server cannot take points now (\(status))",
                pause: response.headers.first(name: "Retry-After").flatMap {
                    RetryAfter.duration($0, now: Date()).map { max($0, .seconds(1)) }
                }
            )
        default: self.init(reason: "the server refuses the points (\(status)); check the URL", cause: .refused)
        }
    }
}

extension ConnectionProblem {
    /// The cause that selects the next delay.
    fileprivate var cause: ReconnectDelay.Cause {
        switch kind {
        case .offline, .unreachable: .unreachable
        case .insecure, .invalid: .refused
        case .broken, .cancelled: .failed
        }
    }
}
