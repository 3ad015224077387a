import BackgrounderAPI
import Foundation
import Logging
import MQTTClient
import StateStore
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import FleetCommands

/// Commands on a machine: each is stored, executed at most once, and answered.
@Suite struct CommandDeskTests {
    /// Executes nothing, and notes what it should have.
    private final class Workers: CommandWorkers {
        struct State {
            var orders: [String] = []
            var ends: [String: CommandEnd] = [:]
        }

        let state = Mutex(State())

        func prepare(_ command: FleetCommand) async -> CommandEnd? { nil }

        func begin(_ command: FleetCommand, of publisher: String) async -> CommandStart {
            state.withLock { state in
                state.orders.append("\(command.order.name) \(command.id)")
                guard let end = state.ends[command.id] else { return .ended(CommandEnd(.done)) }
                return .continues { end }
            }
        }
    }

    private struct StoreJournal: CommandJournal {
        let store: StateStore
        let time: @Sendable () -> Date

        func receive(_ command: StoredCommand) async throws -> CommandReceipt {
            try await store.receive(command, at: time())
        }
        func find(_ id: String) async throws -> StoredCommand? { try await store.command(id) }
        func begin(_ id: String) async throws -> Bool { try await store.beginCommand(id) }
        func end(_ id: String, _ end: CommandEnd) async throws {
            try await store.endCommand(id, end.result, reason: end.reason)
        }
    }

    /// A desk with a store of its own and a clock that a test moves.
    private final class Rig: Sendable {
        static let start = Date(timeIntervalSince1970: 1_800_000_000)
        let clock = VirtualClock()
        let workers = Workers()
        let desk: CommandDesk
        let publisher: StoredPublisher
        private let log = Replies()
        private let task: Task<Void, any Error>

        init(_ store: StateStore, keys: [String] = [], offset: Double = 0, journal: (any CommandJournal)? = nil) throws
        {
            publisher = StoredPublisher(
                name: "office",
                address: try PublisherAddress("mqtt://h"),
                machine: try MachineID("bus12"),
                topic: "owntracks/fleet/bus12",
                groups: [try MachineID("red")],
                progress: PublishProgress(done: 0)
            )
            let (clock, log) = (clock, log)
            let now: @Sendable () -> Date = { Self.start.addingTimeInterval(clock.seconds + offset) }
            let desk = CommandDesk(
                saved: try store.openCommands(),
                journal: journal ?? StoreJournal(store: store, time: now),
                keyFiles: { keys },
                workers: workers,
                clock: clock,
                now: now,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ) { command in
                log.add("\(command.id) \(command.result.rawValue)\(command.reason.map { ": \($0)" } ?? "")")
            }
            self.desk = desk
            task = Task { try await desk.run() }
        }

        deinit { task.cancel() }

        final class Replies: Sendable {
            let lines = Mutex<[String]>([])
            func add(_ line: String) { lines.withLock { $0.append(line) } }
        }

        var lines: [String] { log.lines.withLock(\.self) }

        func send(_ text: String, isRetained: Bool = false) async -> MQTTDeliveryFailure? {
            await desk.receive(MQTTMessage(payload: Array(text.utf8), isRetained: isRetained), of: publisher)
        }

        /// Returns once there are `count` replies.
        func wait(for count: Int) async throws {
            for _ in 0..<1000 where lines.count < count { try await Task.sleep(for: .milliseconds(5)) }
            #expect(lines.count >= count, "\(lines)")
        }
    }

    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func open(_ name: String = "state") throws -> StateStore {
        try StateStore(path: scratch.file("\(name).sqlite"), syncInterval: .seconds(60), retention: .seconds(1e9)) {
            _ in
        }
    }

    private func body(_ id: String, _ rest: String = #""do":"play""#, expires: Int = 1_800_000_060) -> String {
        #"{"id":"\#(id)","expires":\#(expires),\#(rest)}"#
    }

    @Test func `a command is executed once, however often it arrives`() async throws {
        let store = try open()
        var rig = try Rig(store)
        for _ in 1...3 { #expect(await rig.send(body("a")) == nil) }
        try await rig.wait(for: 4)
        #expect(rig.workers.state.withLock(\.orders) == ["play a"])
        #expect(rig.lines.first == "a accepted")
        #expect(rig.lines.contains("a done"))
        // A restart does not forget.
        rig = try Rig(store)
        #expect(await rig.send(body("a")) == nil)
        try await rig.wait(for: 2)
        #expect(rig.lines == ["a done", "a done"])
        #expect(rig.workers.state.withLock(\.orders).isEmpty)
    }

    @Test func `what must not be executed is refused with the reason`() async throws {
        let rig = try Rig(try open())
        let cases = [
            (body("a", expires: 1_799_999_999), "a expired: it expired at 2027-01-15T07:59:59.000Z; the clock"),
            (body("b", #""do":"play","to":["bus13"]"#), "b refused: the command is for other machines"),
            (body("c", #""do":"play","group":"blue""#), "c refused: the command is for the group blue"),
            (body("d", #""do":"reboot""#), #"d refused: "reboot" is not a command"#),
            (body("e", #""do":"play","group":"red""#), "e accepted"),
        ]
        for (index, (text, words)) in cases.enumerated() {
            #expect(await rig.send(text) == nil)
            try await rig.wait(for: index + 1)
            #expect(rig.lines[index].hasPrefix(words), "\(rig.lines[index])")
        }
        #expect(await rig.send(body("f"), isRetained: true) == nil)
        try await rig.wait(for: cases.count + 2)
        #expect(rig.lines.contains { $0.hasPrefix("f refused: retained commands are ignored") }, "\(rig.lines)")
        #expect(await rig.desk.receive(MQTTMessage(payload: nil, isRetained: false), of: rig.publisher) == nil)
        #expect(await rig.send("nonsense") == nil)
        #expect(rig.workers.state.withLock(\.orders) == ["play e"])
    }

    @Test func `a command that comes again after its time is answered as before`() async throws {
        let store = try open()
        let rig = try Rig(store)
        #expect(await rig.send(body("a")) == nil)
        try await rig.wait(for: 2)
        let late = try Rig(store, offset: 3600)
        #expect(await late.send(body("a")) == nil)
        #expect(await late.send(body("a"), isRetained: true) == nil)
        #expect(await late.send(body("b")) == nil)
        // The first one is from the start: the broker may not have the reply.
        try await late.wait(for: 4)
        #expect(late.lines.prefix(3) == ["a done", "a done", "a done"])
        #expect(late.lines.last?.hasPrefix("b expired") == true, "\(late.lines)")
        #expect(late.workers.state.withLock(\.orders).isEmpty)
    }

    @Test func `a publisher that is removed takes its commands with it, but not their ids`() async throws {
        let store = try open()
        let rig = try Rig(store)
        #expect(await rig.send(body("a")) == nil)
        #expect(await rig.send(body("b", #""do":"play","at":1800000030"#)) == nil)
        try await rig.wait(for: 3)
        try await store.changePublishers(removing: ["office"], adding: [], adopting: [])
        for _ in 0..<1000 where rig.clock.timers.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        rig.clock.advance(by: .seconds(30))
        // It comes again to a publisher that was added again.
        for id in ["a", "b"] { #expect(await rig.send(body(id)) == nil) }
        try await rig.wait(for: 5)
        #expect(rig.lines.suffix(2) == ["a done", "b refused: the publisher was removed"])
        #expect(rig.workers.state.withLock(\.orders) == ["play a"])
        #expect(try store.openCommands().isEmpty)
    }

    @Test func `a machine whose clock was never set refuses`() async throws {
        let rig = try Rig(try open(), offset: -1_799_000_000)
        #expect(await rig.send(body("a")) == nil)
        try await rig.wait(for: 1)
        #expect(rig.lines[0].contains("it is not set"), "\(rig.lines)")
    }

    @Test func `a command waits for its time, also over a restart`() async throws {
        let store = try open()
        var rig = try Rig(store)
        let later = body("a", #""do":"play","at":1800000030"#)
        #expect(await rig.send(later) == nil)
        try await rig.wait(for: 1)
        #expect(rig.lines == ["a accepted"])
        rig = try Rig(store)
        for _ in 0..<1000 where rig.clock.timers.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        #expect(rig.clock.timers == [30])
        #expect(rig.workers.state.withLock(\.orders).isEmpty)
        rig.clock.advance(by: .seconds(30))
        try await rig.wait(for: 1)
        #expect(rig.lines == ["a done"])
        // One whose time passed while the machine was off has expired.
        #expect(await rig.send(body("b", #""do":"play","at":1800000050"#)) == nil)
        rig = try Rig(store, offset: 3600)
        try await rig.wait(for: 2)
        #expect(rig.lines.first == "a done", "its sender may not have the reply")
        #expect(rig.lines.last?.hasPrefix("b expired") == true, "\(rig.lines)")
    }

    @Test func `a command that a crash cut off is refused, not executed again`() async throws {
        let store = try open()
        let command = StoredCommand(
            id: "a",
            publisher: "office",
            content: Array(body("a").utf8),
            expires: Rig.start.addingTimeInterval(60)
        )
        #expect(try await store.receive(command, at: Rig.start) == .stored)
        #expect(try await store.beginCommand("a"))
        let rig = try Rig(store)
        try await rig.wait(for: 1)
        #expect(rig.lines == ["a refused: the service ended while the command was running"])
        #expect(rig.workers.state.withLock(\.orders).isEmpty)
    }

    @Test func `with keys, a command needs a signature, and a missing key file refuses all`() async throws {
        let (key, file) = (scratch.file("key"), scratch.file("key.pub"))
        try await Tool.run("openssl", "genpkey", "-algorithm", "ed25519", "-out", key)
        try await Tool.run("openssl", "pkey", "-in", key, "-pubout", "-out", file)
        try await Tool.run("chmod", "600", key)
        let rig = try Rig(try open(), keys: [file])
        #expect(await rig.send(body("a")) == nil)
        try await rig.wait(for: 1)
        #expect(rig.lines == ["a refused: the signature is missing or not of a key in fleet.keys"])
        var command = try FleetCommand(Array(body("b").utf8))
        command.address = .machines([try MachineID("bus12")])
        let signed = String(decoding: try command.content(signedWith: SigningKey(path: key)), as: UTF8.self)
        #expect(await rig.send(signed) == nil)
        try await rig.wait(for: 3)
        #expect(rig.lines.suffix(2) == ["b accepted", "b done"])
        let closed = try Rig(try open("other"), keys: [scratch.file("none")])
        #expect(await closed.send(signed) == nil)
        try await closed.wait(for: 1)
        #expect(closed.lines[0].contains("no such file"), "\(closed.lines)")
    }

    @Test func `a sender in a loop fills neither memory nor disk`() async throws {
        let store = try open()
        let rig = try Rig(store)
        let later = #""do":"play","at":1800000030"#
        for index in 1...StateStore.mostWaitingCommands {
            try #require(await rig.send(body("w\(index)", later)) == nil)
        }
        #expect(await rig.send(body("one more", later)) == nil)
        try await rig.wait(for: StateStore.mostWaitingCommands + 1)
        #expect(rig.lines.last == "one more refused: 1000 commands are waiting, the maximum")
    }

    @Test func `a message that cannot be stored stays with the broker`() async throws {
        struct FullDisk: CommandJournal {
            func receive(_ command: StoredCommand) async throws -> CommandReceipt { throw POSIXError(.ENOSPC) }
            func find(_ id: String) async throws -> StoredCommand? { nil }
            func begin(_ id: String) async throws -> Bool { true }
            func end(_ id: String, _ end: CommandEnd) async throws {}
        }
        let rig = try Rig(try open(), journal: FullDisk())
        #expect(await rig.send(body("a")) != nil)
        #expect(rig.lines.isEmpty)
        #expect(rig.workers.state.withLock(\.orders).isEmpty)
    }
}
