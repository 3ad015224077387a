import BackgrounderAPI
import FoundationEssentials
import NIOEmbedded
import Synchronization
import TestSupport
import Testing

@testable import ControlServer

/// More connections than there are slots.
@Suite struct ConnectionSlotTests {
    private let hub = EventHub(clock: ContinuousClock()) { .sample() }

    private func makeServer(
        slots: Int,
        requestLimit: Duration = .seconds(600),
        routes: (inout ControlRouter) -> Void = { _ in }
    ) async throws -> ServerFixture {
        try await ServerFixture(requestLimit: requestLimit, slots: ConnectionLimits(total: slots)) { router in
            router.on(Routes.status) { _ in .sample }
            router.serveEvents(from: hub, attachments: AttachmentLog(), defaultInterval: { .seconds(1) }) { _ in
                AsyncStream { $0.finish() }
            }
            routes(&router)
        }
    }

    @Test func `a 385th connection takes the slot of the one that has been idle longest`() async throws {
        let server = try await makeServer(slots: ConnectionLimits.most)
        var others: [HTTPConnection] = []
        for _ in 0..<ConnectionLimits.most {
            let connection = try server.connect()
            #expect(try await connection.send("GET", "/v1/status").status == 200)
            others.append(connection)
        }
        #expect(try await server.connect().send("GET", "/v1/status").status == 200)
        #expect(try await others[0].socket.receiveAll(within: 60).isEmpty)
        #expect(try await others[1].send("GET", "/v1/status").status == 200)
        try await server.stop()
    }

    @Test func `two thirds of the slots may read events, and one more reader is refused`() async throws {
        let server = try await makeServer(slots: 9)
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
        // The slot is free once the server has noticed that the reader is gone.
        var isFree = false
        for _ in 0..<10_000 where !isFree {
            let reader = try server.connect()
            try await reader.begin("GET", "/v1/events")
            isFree = try await reader.head().status == 200
        }
        #expect(isFree)
        try await server.stop()
    }

    @Test func `while all slots are in use another connection is refused and closed`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let running = Mutex(0)
        let signal = Signal()
        let server = try await makeServer(slots: 4) { router in
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
        #expect(try reply.json()["message"]?.string == "too many connections")
        gate.continuation.finish()
        for connection in busy { #expect(try await connection.reply().status == 200) }
        try await server.stop()
    }
}

/// Which connection gives way, tested without sockets.
@Suite struct ConnectionSlotOrderTests {
    private static let owner = Peer(user: 1000, groups: [1000])
    private static let guest = Peer(user: 2000, groups: [2000])
    private static let other = Peer(user: 3000, groups: [3000])

    private let policy = AccessPolicy(owner: Self.owner.user) { $0 == Self.guest ? .control : nil }
    private let slots = ConnectionSlots(limits: ConnectionLimits(total: 12))

    private func occupies(_ channel: EmbeddedChannel, for peer: Peer) -> Bool {
        slots.occupy(channel, for: policy.opener(peer))
    }

    /// Returns a connection that has taken a slot and is now used for `use`.
    private func connected(_ peer: Peer, _ use: ConnectionSlots.Use = .idle) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try #require(occupies(channel, for: peer))
        slots.use(channel, for: use)
        return channel
    }

    private func hasSlot(_ channel: EmbeddedChannel) -> Bool { slots.caller(on: channel) != nil }

    @Test func `a connection that never made a request gives way before one that did, however long ago`() throws {
        let served = try (0..<11).map { _ in try connected(Self.owner) }
        let unused = try connected(Self.owner, .unused)
        let next = try connected(Self.owner)
        #expect(!hasSlot(unused))
        #expect((served + [next]).allSatisfy(hasSlot))
        _ = try connected(Self.owner)
        #expect(!hasSlot(served[0]))
        #expect(hasSlot(served[1]))
    }

    @Test func `a user gets a third of the slots and takes none from others`() throws {
        let others = try (0..<4).map { _ in try connected(Self.other) }
        let own = try (0..<5).map { _ in try connected(Self.guest) }
        #expect(own.map(hasSlot) == [false, true, true, true, true])
        for channel in own.dropFirst() { slots.use(channel, for: .inUse) }
        #expect(!occupies(EmbeddedChannel(), for: Self.guest))
        #expect(others.allSatisfy(hasSlot))
    }

    @Test func `a quarter of the slots is reserved for root and the owner`() throws {
        for user in UInt32(1)...3 { for _ in 0..<3 { _ = try connected(Peer(user: user, groups: []), .inUse) } }
        #expect(!occupies(EmbeddedChannel(), for: Self.guest))
        for peer in [Self.owner, Peer(user: 0, groups: []), Self.owner] { _ = try connected(peer, .inUse) }
        #expect(!occupies(EmbeddedChannel(), for: Self.owner))
    }

    @Test func `a slot is free after its connection leaves`() throws {
        let own = try (0..<12).map { _ in try connected(Self.owner, .inUse) }
        #expect(!occupies(EmbeddedChannel(), for: Self.owner))
        slots.leave(own[5])
        #expect(occupies(EmbeddedChannel(), for: Self.owner))
    }

    @Test func `displacing closes an idle connection, but never one that is in use`() throws {
        let busy = try connected(Self.owner, .inUse)
        let idle = try connected(Self.owner)
        #expect(slots.displaceOne())
        #expect(!hasSlot(idle))
        #expect(hasSlot(busy))
        #expect(!slots.displaceOne())
    }

    @Test func `root and the owner may do everything, others only what the policy grants`() throws {
        let levels = try [Self.owner, Peer(user: 0, groups: []), Self.guest, Self.other].map {
            slots.caller(on: try connected($0))?.level
        }
        #expect(levels == [.execute, .execute, .control, nil])
        #expect(AccessLevel.read < .control)
        #expect(AccessLevel.control < .execute)
    }

    @Test func `the limits follow from the total, which is between 8 and 384 for this process`() {
        #expect(ConnectionLimits(total: 8).reserved == 2)
        #expect(ConnectionLimits(total: 9).readers(isPrivileged: true) == 6)
        #expect(ConnectionLimits(total: 9).readers(isPrivileged: false) == 2)
        #expect((8...ConnectionLimits.most).contains(ConnectionLimits.ofThisProcess().total))
    }
}
