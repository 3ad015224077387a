import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing
import WebSupport

@testable import MQTTClient
@testable import SilentPush

/// Messages in virtual time, without a broker.
@Suite struct PushReceiverTests {
    private static func rig(_ time: VirtualClock = VirtualClock()) async throws -> PushRig {
        let journal = MemoryPushJournal()
        await journal.begin(with: try .sample())
        let rig = await PushRig(journal: journal, time: time)
        try await rig.waitUntilServing()
        return rig
    }

    @Test func `declared pushes are added, changed and removed, and those of commands stay`() async throws {
        let rig = await PushRig()
        _ = try await rig.receiver.add(PushRequest(name: "own", url: "mqtt://localhost:1", topic: "t"))
        var home = PushRequest(name: "home", url: "mqtt://localhost:1", topic: "home")
        try await rig.receiver.declare([home], in: "/c.yaml")
        #expect(await rig.receiver.status().map(\.name) == ["own", "home"])
        #expect(await rig.receiver.status().map(\.declared) == [false, true])
        await #expect(throws: PushError.declared("home", file: "/c.yaml")) { try await rig.receiver.remove("home") }
        let client = await rig.journal.saved.pushes.last?.clientID
        try await rig.receiver.declare([home], in: "/c.yaml")
        try #require(await rig.journal.saved.pushes.count == 2)
        #expect(await rig.journal.saved.pushes[1].clientID == client)
        home.topic = "home/#"
        // The push of the command becomes a declared one, and keeps its session at the broker.
        let own = await rig.journal.saved.pushes[0].clientID
        try await rig.receiver.declare(
            [home, PushRequest(name: "own", url: "mqtt://localhost:1", topic: "t")],
            in: "/c.yaml"
        )
        #expect(await rig.receiver.status().map(\.topic) == ["t", "home/#"])
        #expect(await rig.receiver.status().map(\.declared) == [true, true])
        let stored = await rig.journal.saved.pushes
        #expect(stored.map(\.isDeclared) == [true, true])
        #expect(stored[0].clientID == own)
        #expect(stored[1].clientID != client)
        try await rig.receiver.declare([], in: "/c.yaml")
        #expect(await rig.receiver.status().isEmpty)
        #expect(await rig.journal.saved.pushes.isEmpty)
    }

    @Test func `100 messages in 10 seconds cause three fetches, and the next follows an hour after the first`()
        async throws
    {
        let rig = try await Self.rig()
        for number in 1...100 {
            rig.time.advance(to: Double(number) / 10)
            try await rig.send("\(number)")
            try await rig.waitUntilIdle()
        }
        #expect(rig.fetches.map(\.id) == ["1", "2"])
        try await rig.time.advance(toTimerAt: 15)
        try await rig.wait(fetches: 3)
        try await rig.waitUntilIdle()
        for id in ["a", "b", "newest"] { #expect(try await rig.send(id).outcome == .waiting) }
        try await rig.time.advance(toTimerAt: 3600.1)
        try await rig.wait(fetches: 4)
        #expect(rig.fetches.map(\.id) == ["1", "2", "100", "newest"])
        #expect(await rig.receiver.status()[0].received == 103)
        try await rig.end()
    }

    @Test func `each source has its own limit, and a message during a fetch waits for its end`() async throws {
        let rig = try await Self.rig()
        rig.hold()
        for source in ["news", "weather", "photo"] {
            #expect(try await rig.send("1-\(source)", source: source).outcome == .started)
        }
        try await rig.wait(fetches: 3)
        let outcome = try await rig.send("2")
        #expect(outcome.outcome == .waiting)
        #expect(outcome.at == nil)
        try await rig.send("3")
        rig.letGo()
        try await rig.wait(fetches: 4)
        #expect(rig.fetches.last?.id == "3")
        try await rig.end()
    }

    @Test func `the limit and waiting messages survive a restart, and an interrupted fetch begins again`() async throws
    {
        let rig = try await Self.rig()
        for id in ["1", "2"] {
            try await rig.send(id)
            try await rig.waitUntilIdle()
        }
        try await rig.send("3", alert: "Three")
        rig.hold()
        try await rig.send("other", source: "weather", alert: "Sun")
        try await rig.wait(fetches: 3)
        // The journal is in the state that a killed process would leave.
        await rig.receiver.suspend()
        let next = await PushRig(journal: rig.journal, time: rig.time)
        try await next.waitUntilServing()
        try await next.wait(fetches: 1)
        #expect(next.fetches.map(\.id) == ["other"])
        try await next.wait(alerts: ["Sun"])
        try await next.time.advance(toTimerAt: 5)
        try await next.wait(fetches: 2)
        #expect(next.fetches.last?.id == "3")
        #expect(try await next.send("3").reason == "duplicate")
        try await next.wait(alerts: ["Sun", "Three"])
        try await next.end()
        try await rig.end()
    }

    @Test func `an alert is shown once, after the fetch or after 30 s`() async throws {
        let rig = try await Self.rig()
        try await rig.send("silent")
        try await rig.send("1", source: "quick", alert: "Quick")
        try await rig.wait(alerts: ["Quick"])
        rig.hold()
        try await rig.send("2", source: "slow", alert: "Slow")
        try await rig.wait(fetches: 3)
        try await rig.time.advance(toTimerAt: 30)
        try await rig.wait(alerts: ["Quick", "Slow"])
        rig.letGo()
        try await rig.waitUntilIdle()
        #expect(rig.alerts == ["Quick", "Slow"])
        try await rig.end()
    }

    @Test func `only the newest of several alerts is shown, at most 30 s late`() async throws {
        let rig = try await Self.rig()
        for id in ["1", "2", "3"] {
            try await rig.send(id)
            try await rig.waitUntilIdle()
        }
        try await rig.time.advance(toTimerAt: 5)
        try await rig.wait(fetches: 3)
        try await rig.waitUntilIdle()
        try await rig.send("4", alert: "Four")
        try await rig.send("5", alert: "Five")
        try await rig.time.advance(toTimerAt: 35)
        try await rig.wait(alerts: ["Five"])
        try await rig.send("6", alert: "Six")
        try await rig.send("7")
        // The silent message replaces the waiting one, but keeps its alert.
        #expect(rig.alerts == ["Five"])
        try await rig.time.advance(toTimerAt: 65)
        try await rig.wait(alerts: ["Five", "Six"])
        try await rig.time.advance(toTimerAt: 3600)
        try await rig.wait(fetches: 4)
        try await rig.waitUntilIdle()
        #expect(rig.alerts == ["Five", "Six"])
        try await rig.end()
    }

    @Test func `ignored messages are counted by reason`() async throws {
        let rig = try await Self.rig()
        try await rig.send("1")
        #expect(try await rig.send("1").reason == "duplicate")
        #expect(try await rig.send("2", source: "nothing").reason == "unknown")
        #expect(try await rig.send("2", source: "News ").outcome == .started)
        for payload in [
            "x", String(repeating: "x", count: 5000), #"{"content-available":1,"source":"a","id":"b","expires":9}"#,
        ] {
            #expect(try await rig.receiver.simulate(payload, of: "push").outcome == .ignored)
        }
        var ignored = PushIgnored()
        (ignored.duplicate, ignored.unknown, ignored.malformed, ignored.oversize, ignored.expired) = (1, 1, 1, 1, 1)
        let status = await rig.receiver.status()[0]
        #expect(status.received == 2)
        #expect(status.ignored == ignored)
        await #expect(throws: PushError.noSuchPush("other")) { try await rig.receiver.simulate("x", of: "other") }
        try await rig.end()
    }

    @Test func `a message that cannot be stored has no effect and may be sent again`() async throws {
        let rig = try await Self.rig()
        await rig.journal.fill(true)
        await #expect(throws: MemoryPushJournal.Full.self) { try await rig.send("1") }
        #expect(rig.fetches.isEmpty)
        await rig.journal.fill(false)
        #expect(try await rig.send("1").outcome == .started)
        try await rig.end()
    }

    @Test func `a source that is switched off keeps its allowance of fetches`() async throws {
        let rig = try await Self.rig()
        rig.switchOff(true)
        for number in 1...5 {
            try await rig.send("\(number)")
            try await rig.waitUntilIdle()
        }
        rig.switchOff(false)
        #expect(try await rig.send("on").outcome == .started)
        try await rig.end()
    }

    @Test func `no fetch begins while suspended, and a waiting one begins on resuming`() async throws {
        let rig = try await Self.rig()
        rig.hold()
        try await rig.send("1")
        try await rig.send("2")
        await rig.receiver.suspend()
        rig.letGo()
        try await rig.waitUntilIdle()
        await #expect(throws: PushError.suspended) { try await rig.send("3") }
        #expect(rig.fetches.map(\.id) == ["1"])
        #expect(rig.time.timers.isEmpty)
        #expect(await rig.receiver.status()[0].lastError?.contains("not in modes") == true)
        await rig.receiver.resume()
        try await rig.wait(fetches: 2)
        try await rig.end()
    }

    @Test func `adding a push with a silent broker returns when the service stops`()
        async throws
    {
        let broker = try FakeBroker { connection, _ in connection.waitForEnd() }
        let rig = try await Self.rig()
        async let added = rig.receiver.add(
            PushRequest(name: "silent", url: "mqtt://127.0.0.1:\(broker.port)", topic: "t")
        )
        try await rig.time.waitForTimer()
        try await rig.end()
        #expect(try await added.state == .connecting)
        withExtendedLifetime(broker) {}
    }

    @Test func `pushes are added and removed, and invalid ones are refused`() async throws {
        let rig = try await Self.rig()
        let request = PushRequest(name: "more", url: "mqtt://localhost:1", topic: "a/+")
        #expect(try await rig.receiver.add(request).topic == "a/+")
        #expect(await rig.receiver.status().map(\.name) == ["push", "more"])
        await #expect(throws: PushError.exists("more")) { try await rig.receiver.add(request) }
        await #expect(throws: PushError.self) {
            try await rig.receiver.add(PushRequest(name: "a b", url: "mqtt://localhost", topic: "t"))
        }
        await #expect(throws: PushError.credentials(.missing("/nowhere"))) {
            try await rig.receiver.add(
                PushRequest(name: "c", url: "mqtt://localhost", topic: "t", credentials: "/nowhere")
            )
        }
        try await rig.receiver.remove("more")
        await #expect(throws: PushError.noSuchPush("more")) { try await rig.receiver.remove("more") }
        #expect(await rig.journal.saved.pushes.map(\.name) == ["push"])
        for number in 1..<PushLimits.mostPushes {
            _ = try await rig.receiver.add(PushRequest(name: "p\(number)", url: "mqtt://localhost:1", topic: "t"))
        }
        await #expect(throws: PushError.tooMany(limit: PushLimits.mostPushes)) {
            try await rig.receiver.add(PushRequest(name: "last", url: "mqtt://localhost:1", topic: "t"))
        }
        try await rig.end()
    }
}
