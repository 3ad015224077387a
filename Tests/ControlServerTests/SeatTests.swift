import BackgrounderAPI
import FoundationEssentials
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import ControlServer

/// More connections than there are seats.
@Suite struct SeatTests {
    private let hub = EventHub(clock: ContinuousClock()) { .sample() }

    private func makeServer(
        seats: Int,
        requestLimit: Duration = .seconds(600),
        routes: (inout ControlRouter) -> Void = { _ in }
    ) async throws -> ServerFixture {
        try await ServerFixture(requestLimit: requestLimit, seats: SeatLimits(total: seats)) { router in
            router.on(Routes.status) { _ in .sample }
            router.serveEvents(from: hub, attachments: AttachmentLog(), defaultInterval: { .seconds(1) }) { _ in
                AsyncStream { $0.finish() }
            }
            routes(&router)
        }
    }

    @Test func `A 385th connection takes the seat of the one that is idle longest`() async throws {
        let server = try await makeServer(seats: SeatLimits.most)
        var others: [HTTPConnection] = []
        for _ in 0..<SeatLimits.most {
            let connection = try server.connect()
            #expect(try await connection.send("GET", "/v1/status").status == 200)
            others.append(connection)
        }
        #expect(try await server.connect().send("GET", "/v1/status").status == 200)
        #expect(try await others[0].socket.receiveAll(within: 60).isEmpty)
        #expect(try await others[1].send("GET", "/v1/status").status == 200)
        try await server.stop()
    }

    @Test func `Two thirds of the seats may read events, and one more is told so`() async throws {
        let server = try await makeServer(seats: 9)
        var readers = try (0..<6).map { _ in try server.connect() }
        for reader in readers {
            try await reader.begin("GET", "/v1/events")
            #expect(try await reader.head().status == 200)
        }
        let connection = try server.connect()
        let refusal = try await connection.send("GET", "/v1/events")
        #expect(refusal.status == 503)
        #expect(try refusal.json()["message"]?.string?.hasSuffix("already has 6 event readers, the maximum") == true)
        #expect(try await connection.send("GET", "/v1/status").status == 200)
        readers.removeLast()
        // The place is free again once the server has seen that the reader is gone.
        var isFree = false
        for _ in 0..<10_000 where !isFree {
            let reader = try server.connect()
            try await reader.begin("GET", "/v1/events")
            isFree = try await reader.head().status == 200
        }
        #expect(isFree)
        try await server.stop()
    }

    @Test func `While all seats are in use a further connection is told so and closed`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let running = Mutex(0)
        let signal = Signal()
        let server = try await makeServer(seats: 4) { router in
            router.on(Routes.track) { _ in
                running.withLock { $0 += 1 }
                signal.post()
                for await _ in gate.stream {}
                return []
            }
        }
        let busy = try (0..<4).map { _ in try server.connect() }
        for connection in busy { try await connection.begin("GET", "/v1/track") }
        try await signal.wait(for: "4 requests") { running.withLock { $0 == 4 } ? () : nil }
        let reply = try await server.connect().reply()
        #expect(reply.status == 503)
        #expect(reply.headers["connection"] == "close")
        #expect(try reply.json()["message"]?.string == "this user has too many connections")
        gate.continuation.finish()
        for connection in busy { #expect(try await connection.reply().status == 200) }
        try await server.stop()
    }
}

/// Who gives way, without sockets.
@Suite struct SeatOrderTests {
    private static let owner = Peer(user: 1000, groups: [1000])
    private static let guest = Peer(user: 2000, groups: [2000])
    private static let other = Peer(user: 3000, groups: [3000])

    private let seats: Seats

    init() {
        let policy = AccessPolicy(owner: Self.owner.user) { $0 == Self.guest ? .control : nil }
        seats = Seats(policy: policy, limits: SeatLimits(total: 12))
    }

    /// A connection that took a seat and is used for `use` since now.
    private func seated(_ peer: Peer, _ use: Seats.Use = .idle) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try #require(seats.take(channel, for: peer))
        seats.use(channel, for: use)
        return channel
    }

    private func isSeated(_ channel: EmbeddedChannel) -> Bool { seats.user(of: channel) != nil }

    @Test func `One that never asked gives way before one that did, however long ago`() throws {
        let served = try (0..<11).map { _ in try seated(Self.owner) }
        let unused = try seated(Self.owner, .unused)
        let next = try seated(Self.owner)
        #expect(!isSeated(unused))
        #expect((served + [next]).allSatisfy(isSeated))
        _ = try seated(Self.owner)
        #expect(!isSeated(served[0]))
        #expect(isSeated(served[1]))
    }

    @Test func `A user has a third of the seats, and takes none from others`() throws {
        let others = try (0..<4).map { _ in try seated(Self.other) }
        let own = try (0..<5).map { _ in try seated(Self.guest) }
        #expect(own.map(isSeated) == [false, true, true, true, true])
        for channel in own.dropFirst() { seats.use(channel, for: .inUse) }
        #expect(!seats.take(EmbeddedChannel(), for: Self.guest))
        #expect(others.allSatisfy(isSeated))
    }

    @Test func `A quarter of the seats is for root and the owner`() throws {
        for user in UInt32(1)...3 { for _ in 0..<3 { _ = try seated(Peer(user: user, groups: []), .inUse) } }
        #expect(!seats.take(EmbeddedChannel(), for: Self.guest))
        for peer in [Self.owner, Peer(user: 0, groups: []), Self.owner] { _ = try seated(peer, .inUse) }
        #expect(!seats.take(EmbeddedChannel(), for: Self.owner))
    }

    @Test func `A seat that was left is free`() throws {
        let own = try (0..<12).map { _ in try seated(Self.owner, .inUse) }
        #expect(!seats.take(EmbeddedChannel(), for: Self.owner))
        seats.leave(own[5])
        #expect(seats.take(EmbeddedChannel(), for: Self.owner))
    }

    @Test func `Without a descriptor the one that is needed least is closed, and none that is in use`() throws {
        let busy = try seated(Self.owner, .inUse)
        let idle = try seated(Self.owner)
        #expect(seats.displaceOne())
        #expect(!isSeated(idle) && isSeated(busy))
        #expect(!seats.displaceOne())
    }

    @Test func `Root and the owner may do everything, others what the policy says`() throws {
        let levels = try [Self.owner, Peer(user: 0, groups: []), Self.guest, Self.other].map {
            seats.user(of: try seated($0))?.level
        }
        #expect(levels == [.execute, .execute, .control, nil])
        #expect(AccessLevel.read < .control && AccessLevel.control < .execute)
    }

    @Test func `With few descriptors there are few seats, and with many 384`() {
        #expect(SeatLimits(total: 8).reserved == 2)
        #expect(SeatLimits(total: 9).readers(isPrivileged: true) == 6)
        #expect(SeatLimits(total: 9).readers(isPrivileged: false) == 2)
        #expect((8...SeatLimits.most).contains(SeatLimits.ofThisProcess().total))
    }
}
