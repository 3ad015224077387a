import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct PushTests {
    private static let time = Date(timeIntervalSince1970: 1_795_000_000)
    private static func stored(
        _ name: String = "p",
        _ url: String = "mqtt://b:1",
        topic: String = "t",
        credentials: String? = "/c",
        clientID: String = "one"
    ) throws -> StoredPush {
        StoredPush(
            name: name,
            address: try BrokerAddress(url),
            topic: try TopicFilter(topic),
            credentials: credentials,
            clientID: clientID
        )
    }

    private static func message(_ id: String, source: String = "news", alert: String? = nil, at seconds: Double = 0)
        -> WaitingPush
    {
        WaitingPush(source: source, id: id, alert: alert, arrived: time.addingTimeInterval(seconds))
    }

    private static func take(_ message: WaitingPush, in store: StateStore, remembering ids: Int = 1000) async throws
        -> Bool
    {
        try await store.accept(message, of: "p", remembering: ids, for: 604_800)
    }

    @Test func `pushes and their counts are restored, oldest first`() async throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        try await store.changePushes(removing: [], adding: [Self.stored()], adopting: [])
        let second = try Self.stored("a", "mqtts://b:1", topic: "#", credentials: nil, clientID: "two")
        try await store.changePushes(removing: [], adding: [second], adopting: [])
        await #expect(throws: DatabaseError.self) {
            try await store.changePushes(removing: [], adding: [Self.stored()], adopting: [])
        }
        #expect(try await Self.take(Self.message("1"), in: store))
        #expect(try await !Self.take(Self.message("1"), in: store))
        var ignored = PushIgnored()
        (ignored.retained, ignored.expired, ignored.oversize, ignored.malformed, ignored.unknown) = (1, 2, 3, 4, 5)
        try await store.count(ignored, of: "p")
        try await store.changePushes(removing: ["nothing"], adding: [], adopting: [])
        try store.close()
        store = try fixture.open()
        var expected = try Self.stored()
        ignored.duplicate = 1
        (expected.received, expected.ignored) = (1, ignored)
        #expect(try store.pushes().map(\.name) == ["p", "a"])
        #expect(try store.pushes()[0] == expected)
        try await store.changePushes(removing: ["p"], adding: [], adopting: [])
        #expect(try store.pushes().map(\.name) == ["a"])
        try store.close()
    }

    @Test func `the newest message of a source stays pending, and its alert until it is shown`() async throws {
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

    @Test func `an interrupted fetch is pending again, and its first start does not count`() async throws {
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
        // A second start counts: the message itself may crash the process.
        try await store.beginPush("news", at: Self.time.addingTimeInterval(1))
        #expect(try await store.recoverPushMessages() == [Self.message("1", alert: "One")])
        #expect(try store.pushStarts()["news"] == [Self.time.addingTimeInterval(1)])
        // A newer message replaces the one whose fetch was interrupted.
        try await store.beginPush("news", at: Self.time.addingTimeInterval(2))
        #expect(try await Self.take(Self.message("4"), in: store))
        #expect(try await store.recoverPushMessages() == [Self.message("4")])
        try await store.beginPush("news", at: Self.time.addingTimeInterval(3))
        try await store.endPush("news", began: Self.time.addingTimeInterval(3), takenBack: true)
        #expect(try await store.recoverPushMessages() == [])
        #expect(try store.pushStarts()["news"]?.count == 2)
        try store.close()
    }

    @Test func `message ids are remembered for a week, up to the given number`() async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for number in 1...5 { #expect(try await Self.take(Self.message("\(number)"), in: store, remembering: 3)) }
        #expect(try await !Self.take(Self.message("3"), in: store, remembering: 3))
        #expect(try await Self.take(Self.message("2"), in: store, remembering: 3))
        #expect(try await !Self.take(Self.message("5", at: 604_800), in: store))
        #expect(try await Self.take(Self.message("5", at: 604_801), in: store))
        // The clock was set back: an arrival in the future must not be remembered forever.
        #expect(try await Self.take(Self.message("5", at: -604_801), in: store))
        try store.close()
    }
}
