import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct TransferTests {
    private let fixture: StoreFixture
    private let detail = Data("{}".utf8)

    init() throws { fixture = try StoreFixture() }

    private static func transfer(_ id: Int = 0, _ state: TransferState = .queued, session: String = "s") -> Transfer {
        Transfer(
            id: id,
            session: session,
            direction: .get,
            url: "https://h/x",
            destination: "/d/x",
            state: state,
            waitingFor: state == .waiting ? .disk : nil,
            received: 3,
            total: state == .done ? 3 : nil,
            attempts: 1,
            restarts: 2,
            discretionary: true,
            error: "e"
        )
    }

    @Test func `a transfer is restored as stored, and its end is saved with an event`() async throws {
        var store = try fixture.open()
        let id = try await store.add(Self.transfer(), detail: detail)
        try await store.save(Self.transfer(id, .waiting), detail: Data("1".utf8))
        try store.close()
        store = try fixture.open()
        let open = try store.openTransfers()
        #expect(open.map(\.transfer) == [Self.transfer(id, .waiting)])
        #expect(open.map(\.detail) == [Data("1".utf8)])
        let at = Date(timeIntervalSince1970: 1_763_708_149.786)
        try await store.end(Self.transfer(id, .done), at: at)
        #expect(try store.openTransfers().isEmpty)
        #expect(try await store.transfers() == [Self.transfer(id, .done)])
        #expect(try await store.transfer(id)?.state == .done)
        #expect(try await store.transfer(id + 1) == nil)
        let events = try await store.transferEvents(of: "s")
        #expect(events == [TransferEvent(seq: 1, session: "s", transfer: id, state: "done", at: at)])
        #expect(try await store.transferEvents(of: "t") == nil)
    }

    @Test func `acknowledging the last event adds all-events-delivered exactly once`() async throws {
        let store = try fixture.open()
        var ids: [Int] = []
        for session in ["s", "s", "t"] {
            ids.append(try await store.add(Self.transfer(session: session), detail: detail))
        }
        let at = Date(timeIntervalSince1970: 1000)
        try await store.end(Self.transfer(ids[0], .done), at: at)
        // One transfer is still open.
        #expect(try await store.acknowledge("s", through: 1, at: at) == [])
        try await store.end(Self.transfer(ids[1], .failed), at: at)
        #expect(try await store.transferEvents(of: "s")?.map(\.seq) == [2])
        #expect(try await store.acknowledge("s", through: 1, at: at)?.map(\.seq) == [2])
        let last = try await store.acknowledge("s", through: 2, at: at)
        #expect(last == [TransferEvent(seq: 3, session: "s", transfer: nil, state: "all-events-delivered", at: at)])
        #expect(try await store.acknowledge("s", through: 9, at: at) == [])
        #expect(try await store.acknowledge("s", through: 9, at: at) == [])
        #expect(try await store.acknowledge("u", through: 9, at: at) == nil)
        #expect(try await store.transferEvents(of: "t") == [])
    }

    @Test func `the schema rejects inconsistent transfers`() async throws {
        let store = try fixture.open()
        let id = try await store.add(Self.transfer(), detail: detail)
        var wrong = Self.transfer(id)
        wrong.waitingFor = .disk
        for transfer in [wrong, Self.transfer(id, .done)] {
            await #expect(throws: DatabaseError.self) { try await store.save(transfer, detail: detail) }
        }
        await #expect(throws: DatabaseError.self) { try await store.end(Self.transfer(id), at: Date()) }
        #expect(
            try store.openTransfers().map(\.transfer)
                == [Self.transfer()].map { transfer in
                    var transfer = transfer
                    transfer.id = id
                    return transfer
                }
        )
        #expect(try await store.transferEvents(of: "s") == [])
    }

    @Test func `the ended transfers are removed from the list, and their events and the open ones stay`() async throws {
        var store = try fixture.open()
        let open = try await store.add(Self.transfer(), detail: detail)
        for _ in 0..<2 {
            let id = try await store.add(Self.transfer(), detail: detail)
            try await store.end(Self.transfer(id, .done), at: Date(timeIntervalSince1970: 0))
        }
        #expect(try await store.transferSessions() == [SessionStatus(name: "s", open: 1, events: 2)])
        #expect(try await store.removeEndedTransfers() == 2)
        #expect(try await store.removeEndedTransfers() == 0)
        try store.close()
        store = try fixture.open()
        #expect(try await store.transfers().map(\.id) == [open])
        #expect(try await store.transferEvents(of: "s")?.map(\.transfer) == [2, 3])
    }

    @Test func `the newest thousand finished transfers are kept, and ids are never reused`() async throws {
        let store = try fixture.open()
        for _ in 0..<1003 {
            let id = try await store.add(Self.transfer(), detail: detail)
            try await store.end(Self.transfer(id, .done), at: Date(timeIntervalSince1970: 0))
        }
        let ids = try await store.transfers().map(\.id)
        #expect(ids.count == 1000)
        #expect(ids.first == 4)
        #expect(ids.last == 1003)
    }
}
