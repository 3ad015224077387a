import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@Suite struct EventStreamTests {
    /// A server with one hub, whose state a test sets.
    private final class Rig: Sendable {
        let attachments = AttachmentLog()
        let snapshot = Mutex(StateSnapshot.sample())
        let (times, timesContinuation) = AsyncStream.makeStream(of: PlayerTime.self)
        let intervals = Mutex<[Duration]>([])
        /// Called while the first state is built.
        let gate = Mutex<(@Sendable () async -> Void)?>(nil)
        let hubBox = Mutex<EventHub?>(nil)

        var hub: EventHub { hubBox.withLock { $0 } ?? EventHub(clock: ContinuousClock()) { .sample() } }

        func serve(
            readerTimes: ReaderTimes = ReaderTimes(),
            requestLimit: Duration = .seconds(10)
        ) async throws -> ServerFixture {
            let hub = EventHub(clock: ContinuousClock()) { [self] in
                let value = snapshot.withLock { $0 }
                await gate.withLock { $0 }?()
                return value
            }
            hubBox.withLock { $0 = hub }
            return try await ServerFixture(requestLimit: requestLimit) { router in
                router.serveEvents(
                    from: hub,
                    attachments: attachments,
                    readerTimes: readerTimes,
                    defaultInterval: { .seconds(1) }
                ) { [self] interval in
                    intervals.withLock { $0.append(interval) }
                    return times
                }
                router.on(Routes.status) { _ in .sample }
            }
        }
    }

    private let rig = Rig()

    /// Reads the stream event by event.
    private final class Reader {
        let connection: HTTPConnection
        let head: HTTPReply
        private var buffer: [UInt8] = []

        init(_ server: ServerFixture, _ query: String = "") async throws {
            connection = try server.connect()
            try await connection.begin("GET", "/v1/events\(query)")
            head = try await connection.head()
        }

        /// Returns the next block without its blank line, or `nil` at the end of the stream.
        func next() async throws -> String? {
            while true {
                if let end = buffer.firstRange(of: Array("\n\n".utf8)) {
                    defer { buffer.removeFirst(end.upperBound) }
                    return String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
                }
                guard let chunk = try await connection.chunk() else { return nil }
                buffer += chunk
            }
        }

        /// Returns the next event. Skips comments, which an attached reader may get on a busy machine.
        func event() async throws -> (name: String, data: JSONValue)? {
            var block: String
            repeat {
                guard let next = try await next() else { return nil }
                block = next
            } while block.hasPrefix(":")
            let lines = block.split(separator: "\n")
            let name = try #require(lines.first { $0.hasPrefix("event: ") }).dropFirst(7)
            let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
            #expect(lines.count == 2)
            return (String(name), try JSONValue(parsing: String(data)))
        }

        /// Returns the longitudes of the track of a `state`, or the one of a `location`.
        static func longitudes(_ event: (name: String, data: JSONValue)) -> [Double] {
            let locations = event.name == "state" ? event.data["track"]?.array ?? [] : [event.data]
            return locations.compactMap { $0["longitude"]?.number }
        }
    }

    @Test func `the state comes first, then the events as they happen`() async throws {
        let server = try await rig.serve()
        let reader = try await Reader(server)
        #expect(reader.head.status == 200)
        #expect(reader.head.headers["content-type"] == "text/event-stream")
        #expect(reader.head.headers["backgrounder-version"] == Backgrounder.version)
        #expect(try await reader.event()?.name == "state")
        rig.hub.post(.location(.sample(1)))
        rig.hub.post(.currentItem(CurrentItem(item: nil)))
        rig.hub.post(.lifecycle(LifecycleState(state: .active, attached: 1)))
        rig.timesContinuation.yield(PlayerTime(itemID: 3, elapsed: 1.5))
        var names: [String] = []
        for _ in 0..<4 { names.append(try #require(try await reader.event()).name) }
        #expect(names.filter { $0 != "time" } == ["location", "currentItem", "lifecycle"])
        #expect(names.contains("time"))
        rig.snapshot.withLock { $0 = .sample(items: 1) }
        rig.hub.stateChanged()
        let second = try #require(try await reader.event())
        #expect(second.name == "state")
        #expect(second.data["queue"]?.array?.count == 1)
        try await server.stop()
    }

    @Test func `a state that takes long to build never follows a newer one`() async throws {
        let server = try await rig.serve()
        let reader = try await Reader(server)
        #expect(try await reader.event()?.name == "state")
        let gate = Gate()
        let builds = Mutex(0)
        rig.gate.withLock {
            $0 = {
                builds.withLock { $0 += 1 }
                await gate.pass()
            }
        }
        rig.snapshot.withLock { $0 = .sample(items: 1) }
        rig.hub.stateChanged()
        await gate.reached()
        rig.snapshot.withLock { $0 = .sample(items: 2) }
        rig.hub.stateChanged()
        // Only a wrong hub begins to build another state now, so there is nothing to wait for: more than twice the least
        // interval between two states.
        try await Task.sleep(for: .milliseconds(250))
        #expect(builds.withLock { $0 } == 1)
        gate.open()
        var items: [Int] = []
        // A newer state replaces one that still waits for the reader.
        while items.last != 2 { items.append(try #require(try await reader.event()?.data["queue"]?.array?.count)) }
        #expect(items == [1, 2] || items == [2])
        try await server.stop()
    }

    @Test func `locations accepted while the first state is built arrive exactly once`()
        async throws
    {
        let server = try await rig.serve()
        rig.snapshot.withLock { $0 = .sample(track: [.sample(1), .sample(2)]) }
        rig.gate.withLock { gate in
            gate = { [rig] in
                rig.hub.post(.location(.sample(2)))
                rig.hub.post(.location(.sample(3)))
            }
        }
        let reader = try await Reader(server)
        var seen: [Double] = []
        while seen.count < 3 { seen += Reader.longitudes(try #require(try await reader.event())) }
        #expect(seen == [1, 2, 3])
        try await server.stop()
    }

    @Test func `under a constant stream of events the state still comes first and nothing is missing`() async throws {
        let server = try await rig.serve()
        let isOver = Atomic(false)
        let poster = Task.detached { [rig] in
            for index in 0... {
                guard !isOver.load(ordering: .relaxed) else { return }
                rig.hub.post(.time(PlayerTime(itemID: index, elapsed: 0)))
                if index.isMultiple(of: 100) { await Task.yield() }
            }
        }
        for _ in 0..<30 {
            let reader = try await Reader(server)
            #expect(try await reader.event()?.name == "state")
            let first = try #require(try await reader.event()?.data["itemID"]?.number)
            let second = try #require(try await reader.event()?.data["itemID"]?.number)
            #expect(second == first + 1)
        }
        isOver.store(true, ordering: .relaxed)
        await poster.value
        try await server.stop()
    }

    @Test func `states come at most ten times a second, and the last one has the last change`() async throws {
        let server = try await rig.serve()
        let reader = try await Reader(server)
        _ = try await reader.event()
        let begin = ContinuousClock.now
        for count in 1...50 {
            rig.snapshot.withLock { $0 = .sample(items: count) }
            rig.hub.stateChanged()
            await Task.yield()
        }
        var states = 0
        while true {
            let event = try #require(try await reader.event())
            states += 1
            if event.data["queue"]?.array?.count == 50 { break }
        }
        let tenths = (ContinuousClock.now - begin) / .milliseconds(100)
        #expect(Double(states) <= tenths + 2)
        try await server.stop()
    }

    @Test(arguments: [
        ("?observe=10ms", 10), ("?observe=0.5", 500), ("?observe=60s", 60_000), ("?observe=1m", 60_000), ("", 1000),
    ])
    func `the reader chooses the interval of the times`(query: String, milliseconds: Int64) async throws {
        let server = try await rig.serve()
        let reader = try await Reader(server, query)
        rig.timesContinuation.yield(PlayerTime(itemID: 1, elapsed: 2, duration: 3))
        var event = try await reader.event()
        if event?.name == "state" { event = try await reader.event() }
        #expect(event?.name == "time")
        #expect(rig.intervals.withLock { $0 } == [.milliseconds(milliseconds)])
        try await server.stop()
    }

    @Test(arguments: [
        "?observe=9ms", "?observe=61s", "?observe=x", "?observe=", "?observe=-1", "?attach=2", "?attach=",
        "?attach=yes",
    ])
    func `an invalid interval or attachment is refused with 422`(query: String) async throws {
        let server = try await rig.serve()
        #expect(try await server.connect().send("GET", "/v1/events\(query)").status == 422)
        #expect(rig.attachments.entries.isEmpty)
        try await server.stop()
    }

    @Test func `only attached readers count, and their leaving is noticed promptly`() async throws {
        let server = try await rig.serve()
        let observer = try await Reader(server)
        _ = try await observer.event()
        var attached: Reader? = try await Reader(server, "?attach=1")
        _ = try await attached?.event()
        #expect(rig.attachments.entries == [.attached(1)])
        let begin = ContinuousClock.now
        attached = nil
        try await rig.attachments.wait(for: .detached(1))
        #expect(ContinuousClock.now - begin < .seconds(5))
        #expect(rig.attachments.entries == [.attached(1), .detached(1)])
        try await server.stop()
    }

    @Test func `fifty clients that leave before their first state are all detached`() async throws {
        let server = try await rig.serve()
        for _ in 0..<50 { try await server.connect().begin("GET", "/v1/events?attach=1") }
        // Connections are accepted in order, so the server has seen all fifty by now.
        let last = try await Reader(server, "?attach=1")
        _ = try await last.event()
        try await rig.attachments.wait(forAttached: 1)
        try await server.stop()
    }

    @Test func `a stream outlives the request limit, even as the second of two pipelined requests`()
        async throws
    {
        let server = try await rig.serve(requestLimit: .milliseconds(300))
        let connection = try server.connect()
        try await connection.socket.send(
            "GET /v1/status HTTP/1.1\r\nhost: b\r\n\r\nGET /v1/events HTTP/1.1\r\nhost: b\r\n\r\n"
        )
        #expect(try await connection.reply().status == 200)
        #expect(try await connection.head().status == 200)
        _ = try await connection.chunk()
        // A connection without a request that is made now is closed after the limit of the first one.
        _ = try await StreamSocket(server.path).receiveAll()
        _ = try await StreamSocket(server.path).receiveAll()
        rig.hub.post(.location(.sample(1)))
        #expect(
            try await connection.chunk().map { String(decoding: $0, as: UTF8.self) }?.contains("event: location")
                == true
        )
        try await server.stop()
    }

    @Test func `a reader that stops reading is dropped above 256 KiB, and the others continue`() async throws {
        let server = try await rig.serve()
        let slow = try await Reader(server, "?attach=1")
        let quick = try await Reader(server)
        _ = try await quick.event()
        let title = String(repeating: "t", count: 10_000)
        let event = Event.currentItem(CurrentItem(item: PlayerItem(id: 1, position: 0, path: "/a", title: title)))
        // The kernel buffers some bytes in addition, but far less than 64 times the limit.
        for _ in 0..<64 * 26 where !rig.attachments.entries.contains(.detached(1)) {
            rig.hub.post(event)
            #expect(try await quick.event()?.name == "currentItem")
        }
        try await rig.attachments.wait(for: .detached(1))
        await #expect(throws: (any Error).self) { while try await slow.next() != nil {} }
        rig.hub.post(.location(.sample(1)))
        #expect(try await quick.event()?.name == "location")
        try await server.stop()
    }

    @Test func `a state of over 256 KiB reaches a reader that keeps reading`() async throws {
        let server = try await rig.serve()
        rig.snapshot.withLock { $0 = .sample(items: 6000) }
        let reader = try await Reader(server, "?attach=1")
        for round in 0..<5 {
            let state = try #require(try await reader.event())
            #expect(state.data["queue"]?.array?.count == 6000, "\(round)")
            rig.hub.stateChanged()
        }
        try await server.stop()
    }

    @Test func `a reader that does not read is stalled until it reads again`() async throws {
        var times = ReaderTimes()
        times.stall = .milliseconds(300)
        let server = try await rig.serve(readerTimes: times)
        let connection = try server.connect()
        try await connection.begin("GET", "/v1/events?attach=1")
        try await rig.attachments.wait(for: .stalled(1, true))
        _ = try await connection.head()
        _ = try await connection.chunk()
        try await rig.attachments.wait(for: .stalled(1, false))
        #expect(rig.attachments.entries == [.attached(1), .stalled(1, true), .stalled(1, false)])
        rig.hub.post(.location(.sample(1)))
        #expect(try await connection.chunk() != nil)
        try await server.stop()
    }

    @Test func `an attached reader gets keepalive comments, one that only reads does not`() async throws {
        var times = ReaderTimes()
        times.keepalive = .milliseconds(100)
        let server = try await rig.serve(readerTimes: times)
        let observer = try await Reader(server)
        _ = try await observer.event()
        let attached = try await Reader(server, "?attach=1")
        _ = try await attached.event()
        for _ in 0..<3 { #expect(try await attached.next() == ": keepalive") }
        rig.hub.post(.location(.sample(1)))
        #expect(try await observer.event()?.name == "location")
        try await server.stop()
    }

    @Test func `a stop with open streams, idle connections and half requests is quick and ends the streams`()
        async throws
    {
        let server = try await rig.serve()
        let readers = [try await Reader(server), try await Reader(server, "?attach=1")]
        for reader in readers { _ = try await reader.event() }
        let idle = try server.connect()
        #expect(try await idle.send("GET", "/v1/status").status == 200)
        let half = try server.connect()
        try await half.socket.send("GET /v1/st")
        let begin = ContinuousClock.now
        try await server.stop()
        #expect(ContinuousClock.now - begin < .seconds(5))
        for reader in readers { #expect(try await reader.next() == nil) }
        try await rig.attachments.wait(for: .detached(1))
        #expect(rig.attachments.entries == [.attached(1), .detached(1)])
    }
}
