import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@Suite struct ImportRouteTests {
    /// Calls `onEnd` when it is released.
    private final class Job: Sendable {
        private let onEnd: @Sendable () -> Void

        init(onEnd: @escaping @Sendable () -> Void) {
            self.onEnd = onEnd
        }

        deinit { onEnd() }
    }

    private func progress(_ received: Int, finished: Bool = false) -> ImportProgress {
        var progress = ImportProgress()
        (progress.received, progress.stored, progress.finished) = (received, received, finished)
        return progress
    }

    @Test func `each progress report is one line, and the last is marked as finished`() async throws {
        let requests = Mutex<[ImportRequest]>([])
        let all = [progress(10), progress(20), progress(20, finished: true)]
        let server = try await ServerFixture { router in
            router.serveImport { request in
                requests.withLock { $0.append(request) }
                return AsyncThrowingStream { continuation in
                    for progress in all { continuation.yield(progress) }
                    continuation.finish()
                }
            }
        }
        let body = #"{"path":"/a.gpx","distanceFilter":10}"#
        let reply = try await server.connect().send("POST", "/v1/track/import", body: body)
        #expect(reply.status == 200)
        #expect(reply.headers["content-type"] == "application/x-ndjson")
        let lines = try reply.text.split(separator: "\n").map {
            try JSON.decode(ImportProgress.self, from: Data($0.utf8))
        }
        #expect(lines == all)
        #expect(requests.withLock { $0 } == [ImportRequest(path: "/a.gpx", distanceFilter: 10)])
        try await server.stop()
    }

    @Test func `a client that disconnects ends the import`() async throws {
        let ended = Signal()
        let isOver = Mutex(false)
        let server = try await ServerFixture { [ended] router in
            router.serveImport { _ in
                let job = Job {
                    isOver.withLock { $0 = true }
                    ended.post()
                }
                return AsyncThrowingStream { withExtendedLifetime(job) { ImportProgress() } }
            }
        }
        do {
            let connection = try server.connect()
            try await connection.begin("POST", "/v1/track/import", body: #"{"path":"/a.gpx"}"#)
            #expect(try await connection.head().status == 200)
        }
        try await ended.wait(for: "end of the import") { isOver.withLock { $0 } ? () : nil }
        try await server.stop()
    }

    @Test func `a client that does not read ends the import`() async throws {
        let ended = Signal()
        let isOver = Mutex(false)
        let server = try await ServerFixture { [ended] router in
            router.serveImport(readerLimit: .milliseconds(200)) { _ in
                let job = Job {
                    isOver.withLock { $0 = true }
                    ended.post()
                }
                return AsyncThrowingStream { withExtendedLifetime(job) { ImportProgress() } }
            }
        }
        let connection = try server.connect()
        try await connection.begin("POST", "/v1/track/import", body: #"{"path":"/a.gpx"}"#)
        try await ended.wait(for: "end of the import") { isOver.withLock { $0 } ? () : nil }
        try await server.stop()
        withExtendedLifetime(connection) {}
    }
}
