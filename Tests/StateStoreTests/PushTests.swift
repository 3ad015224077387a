import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct PushTests {
    private static let time = Date(timeIntervalSince1970: 1_795_000_000)
    private static let push = PushRow(name: "p", url: "mqtt://b:1", topic: "t", credentials: "/c", client: "one")

    private static func message(_ id: String, source: String = "news", alert: String? = nil, at seconds: Double = 0)
        -> PushMessageRow
    {
        PushMessageRow(source: source, id: id, alert: alert, arrived: time.addingTimeInterval(seconds))
    }

    private static func take(_ message: PushMessageRow, in store: StateStore, remembering ids: Int = 1000) async throws
        -> Bool
    {
        try await store.take(message, of: "p", remembering: ids, for: 604_800)
    }

    @Test func `Pushes and their counts are given back, oldest first`() async throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        try await store.add(Self.push)
        try await store.add(PushRow(name: "a", url: "mqtts://b:1", topic: "#", credentials: nil, client: "two"))
        await #expect(throws: DatabaseError.self) { try await store.add(Self.push) }
        #expect(try await Self.take(Self.message("1"), in: store))
        #expect(try await !Self.take(Self.message("1"), in: store))
        var ignored = PushIgnored()
        (ignored.retained, ignored.expired, ignored.oversize, ignored.malformed, ignored.unknown) = (1, 2, 3, 4, 5)
        try await store.count(ignored, of: "p")
        try await store.removePush("nothing")
        try store.close()
        store = try fixture.open()
        var expected = Self.push
        ignored.duplicate = 1
        (expected.received, expected.ignored) = (1, ignored)
        #expect(try store.pushes().map(\.name) == ["p", "a"])
        #expect(try store.pushes()[0] == expected)
        try await store.removePush("p")
        #expect(try store.pushes().map(\.name) == ["a"])
        try store.close()
    }

    @Test func `The newest message of a source waits, and its alert until it was shown`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for message in [
            Self.message("1", alert: "One"), Self.message("2", alert: "Two"), Self.message("3", source: "weather"),
        ] { #expect(try await Self.take(message, in: store)) }
        #expect(
            try await store.recoverPushMessages() == [
                Self.message("2", alert: "Two"), Self.message("3", source: "weather"),
            ]
        )
        try await store.pushAlerted("news", id: "1")
        try await store.pushAlerted("news", id: "2")
        #expect(try await store.recoverPushMessages()[0] == Self.message("2"))
        try store.close()
    }

    @Test func `A fetch that was cut off waits again, and the first time does not count`() async throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        #expect(try await Self.take(Self.message("1", alert: "One"), in: store))
        try await store.beginPush("news", at: Self.time)
        #expect(try await Self.take(Self.message("2", source: "weather"), in: store))
        try await store.beginPush("weather", at: Self.time)
        try await store.endPush("weather", began: Self.time, takenBack: false)
        try store.close()
        store = try fixture.open()
        #expect(try await store.recoverPushMessages() == [Self.message("1", alert: "One")])
        #expect(try store.pushStarts() == ["weather": [Self.time]])
        // The second time it counts: it may be the message that ends the process.
        try await store.beginPush("news", at: Self.time.addingTimeInterval(1))
        #expect(try await store.recoverPushMessages() == [Self.message("1", alert: "One")])
        #expect(try store.pushStarts()["news"] == [Self.time.addingTimeInterval(1)])
        // A newer one stands for one that was cut off.
        try await store.beginPush("news", at: Self.time.addingTimeInterval(2))
        #expect(try await Self.take(Self.message("4"), in: store))
        #expect(try await store.recoverPushMessages() == [Self.message("4")])
        try await store.beginPush("news", at: Self.time.addingTimeInterval(3))
        try await store.endPush("news", began: Self.time.addingTimeInterval(3), takenBack: true)
        #expect(try await store.recoverPushMessages() == [])
        #expect(try store.pushStarts()["news"]?.count == 2)
        try store.close()
    }

    @Test func `Ids are remembered for a week, and as many as are asked for`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 1...5 { #expect(try await Self.take(Self.message("\(number)"), in: store, remembering: 3)) }
        #expect(try await !Self.take(Self.message("3"), in: store, remembering: 3))
        #expect(try await Self.take(Self.message("2"), in: store, remembering: 3))
        #expect(try await !Self.take(Self.message("5", at: 604_800), in: store))
        #expect(try await Self.take(Self.message("5", at: 604_801), in: store))
        // The clock was set back: what it wrote of the future is no reason to remember it for ever.
        #expect(try await Self.take(Self.message("5", at: -604_801), in: store))
        try store.close()
    }
}
