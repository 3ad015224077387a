import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import MQTTClient
@testable import SilentPush

/// Servers that are not brokers, and hostile brokers.
@Suite struct HostileBrokerTests {
    /// Returns the first failure of a session with a broker that runs `script`.
    private static func failure(
        batch: Int = 1,
        _ script: @escaping @Sendable (FakeBrokerConnection, Int) throws -> Void
    ) async throws -> MQTTFailure {
        let broker = try FakeBroker(script)
        let rig = try MQTTRig(try .sample(port: broker.port), batch: batch)
        let failure = try await rig.waitForFailure()
        withExtendedLifetime(broker) {}
        return failure
    }

    @Test(
        arguments: [
            (1, "does not speak MQTT 3.1.1"), (2, "client id"), (4, "user and password"), (5, "not authorised"),
            (77, "code 77"),
        ] as [(UInt8, String)]
    )
    func `the reason of a broker that refuses the login is shown`(code: UInt8, words: String) async throws {
        let failure = try await Self.failure { connection, _ in
            _ = try connection.receive()
            try connection.send([0x20, 2, 0, code])
        }
        #expect(failure.isRefusal, "\(failure)")
        #expect(failure.description.contains(words), "\(failure)")
    }

    @Test func `an unavailable broker, a closed connection and a refused topic are distinguished`() async throws {
        #expect(
            try await Self.failure { connection, _ in
                _ = try connection.receive()
                try connection.send([0x20, 2, 0, 3])
            } == .unavailable
        )
        #expect(try await Self.failure { connection, _ in _ = try connection.receive() } == .turnedAway)
        #expect(
            try await Self.failure { connection, _ in
                try connection.greet(granting: 0x80)
                connection.waitForEnd()
            } == .refusedTopic("t")
        )
        #expect(try await Self.failure { connection, _ in try connection.greet() } == .closed)
    }

    @Test(
        arguments: [
            // Sent after the greeting (true) or in its place (false).
            (false, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)), (false, [0x15, 3, 3, 0, 2, 2, 40]),
            (false, [0x20, 3, 0, 0, 0]), (false, [0x20, 0]), (false, FakeBrokerConnection.message([1])),
            (true, [0x00, 0x00]), (true, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), (true, [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            // A second greeting, messages of QoS 2 and 3, a release, a topic longer than its packet.
            (true, [0x20, 2, 0, 0]), (true, FakeBrokerConnection.message([1], qos: 2)),
            (true, FakeBrokerConnection.message([1], qos: 3)), (true, [0x62, 2, 0, 1]),
            (true, [0x32, 4, 0xFF, 0xFF, 0, 1]),
            (true, [0x90, 2, 0, 1]), (true, [0x90, 0]), (true, [0xB0, 0]), (true, [0xD0, 1, 0]),
            // The invalid id 0, and a topic that is not valid UTF-8.
            (true, FakeBrokerConnection.message([1], id: 0)), (true, [0x30, 4, 0, 1, 0xFF, 1]),
            // A large message with the invalid id 0.
            (true, [0x32, 0xFF, 0xFF, 0x03, 0, 1, 0x74, 0, 0]),
            // A large message whose topic leaves no place for its identifier.
            (true, [0x32, 0xFF, 0xFF, 0x03, 0xFF, 0xFC] + [UInt8](repeating: 0x61, count: 65_530)),
        ] as [(Bool, [UInt8])]
    )
    func `bytes that are not valid MQTT for a subscriber end the connection`(isLetIn: Bool, bytes: [UInt8]) async throws
    {
        // The second broker sends messages together with the bytes.
        for batch in [1, 40] {
            let before =
                batch > 1 && isLetIn ? (1...9).flatMap { FakeBrokerConnection.message([$0], id: UInt16($0)) } : []
            let failure = try await Self.failure(batch: batch) { connection, _ in
                if isLetIn { try connection.greet() } else { _ = try connection.receive() }
                try connection.send(before + bytes)
                connection.waitForEnd()
            }
            #expect(failure == .notMQTT, "\(failure)")
        }
    }

    @Test(arguments: [[0xD0, 0], FakeBrokerConnection.message([UInt8](repeating: 1, count: 500), qos: 0)])
    func `a broker that sends without a pause does not keep a session from its end`(packet: [UInt8]) async throws {
        let signal = Signal()
        let sent = Mutex(0)
        let hasEnded = Mutex(false)
        let broker = try FakeBroker { connection, _ in
            try connection.greet()
            defer {
                hasEnded.withLock { $0 = true }
                signal.post()
            }
            var size: Int32 = 64 << 10
            setsockopt(connection.descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            let packets = Array(repeatElement(packet, count: (64 << 10) / packet.count).joined())
            while true {
                try connection.send(packets)
                sent.withLock { $0 += packets.count }
                signal.post()
            }
        }
        let rig = try MQTTRig(try .sample(port: broker.port), batch: 1000)
        _ = try await signal.wait(for: "more than the buffers of both sockets hold") {
            sent.withLock(\.self) > 1 << 20 ? true : nil
        }
        rig.session.end()
        // Sooner than the broker gives up on a client that does not read.
        _ = try await signal.wait(for: "the end", within: 10) { hasEnded.withLock(\.self) ? true : nil }
        #expect(rig.reports == [.connected(refused: nil)])
    }

    @Test func `a broker that sends messages and reads no acknowledgements is left`() async throws {
        let failure = try await Self.failure(batch: 4000) { connection, _ in
            try connection.greet()
            let messages = (1...50_000).flatMap { FakeBrokerConnection.message([], id: UInt16($0)) }
            while true { try connection.send(messages) }
        }
        #expect(failure == .silent, "\(failure)")
    }

    @Test func `urgent data ends the connection`() async throws {
        let failure = try await Self.failure { connection, _ in
            try connection.greet()
            try connection.send([0x30])
            _ = Foundation.send(connection.descriptor, [5], 1, Int32(MSG_OOB))
            try connection.send([0, 1])
            connection.waitForEnd()
        }
        #expect(failure == .notMQTT, "\(failure)")
    }

    @Test func `random bytes end each connection with a failure`() async throws {
        let seeds = 0..<60
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in seeds {
                group.addTask {
                    _ = try await Self.failure(batch: seed.isMultiple(of: 2) ? 1 : 40) { connection, _ in
                        var random = SeededGenerator(seed: UInt64(seed))
                        try connection.greet()
                        let bytes = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
                        // Some begin with a valid message.
                        try connection.send(seed.isMultiple(of: 3) ? FakeBrokerConnection.message([1]) + bytes : bytes)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `packets that arrive byte by byte or many at a time are all read`() async throws {
        let broker = try FakeBroker { connection, _ in
            _ = try connection.receive()
            for byte in [0x20, 2, 0, 0] as [UInt8] { try connection.send([byte]) }
            let subscription = try connection.receive()
            try connection.send([0x90, 3, subscription.body[0], subscription.body[1], 1])
            for byte in FakeBrokerConnection.message(Array("slow".utf8)) { try connection.send([byte]) }
            let many = (1...50).flatMap { FakeBrokerConnection.message(Array("\($0)".utf8), id: UInt16($0)) }
            try connection.send(many)
            for _ in 0...50 {
                let packet = try connection.receive()
                guard packet.head == 0x40 else { return }
            }
            try connection.send(FakeBrokerConnection.message(Array("all acknowledged".utf8), qos: 0))
            connection.waitForEnd()
        }
        let rig = try MQTTRig(try .sample(port: broker.port))
        try await rig.wait(messages: 52)
        #expect(rig.texts == ["slow"] + (1...50).map { "\($0)" } + ["all acknowledged"])
    }

    @Test func `a message is acknowledged only after it is stored, and an oversized one is skipped`() async throws {
        let broker = try FakeBroker { connection, number in
            try connection.greet()
            let large = FakeBrokerConnection.message([UInt8](repeating: 7, count: 1 << 20), id: 9)
            try connection.send(
                FakeBrokerConnection.message(Array("\(number)".utf8), id: 5) + (number > 0 ? large : [])
            )
            // The first message is not stored, and the connection ends without an acknowledgement.
            let first = try connection.receive()
            guard number > 0, first.head == 0x40, first.body == [0, 5] else { return }
            let second = try connection.receive()
            guard second.head == 0x40, second.body == [0, 9] else { return }
            try connection.send(FakeBrokerConnection.message(Array("good".utf8), qos: 0))
            connection.waitForEnd()
        }
        let rig = try MQTTRig(try .sample(port: broker.port))
        rig.fill(true)
        _ = try await rig.waitForFailure()
        rig.fill(false)
        try await rig.wait(messages: 3)
        #expect(rig.texts == ["1", "large", "good"])
    }

    @Test func `a message of 200 MiB is skipped in less than 100 MiB of memory`() async throws {
        let length = 200 << 20
        try Self.forgetPeak()
        let before = try Self.peak()
        let broker = try FakeBroker { connection, _ in
            try connection.greet()
            try connection.send(FakeBrokerConnection.message([], id: 3, announcing: length))
            let chunk = [UInt8](repeating: 7, count: 1 << 20)
            for _ in 0..<200 { try connection.send(chunk) }
            let packet = try connection.receive()
            guard packet.head == 0x40, packet.body == [0, 3] else { return }
            try connection.send(FakeBrokerConnection.message(Array("after".utf8), qos: 0))
            connection.waitForEnd()
        }
        let rig = try MQTTRig(try .sample(port: broker.port))
        try await rig.wait(messages: 2, within: 60)
        #expect(rig.texts == ["large", "after"])
        // Other tests of this suite run at the same time, but with `make test` no other suites.
        let kibibytes = try Self.peak() - before
        #expect(kibibytes < 100 << 10, "\(kibibytes)")
    }

    /// Publishes numbered messages; each again on the next connection until it is acknowledged.
    private final class Numbers: MQTTOutbox {
        private struct State {
            var next: Int64 = 1
            var acknowledged: Set<Int64> = []
            var repeated = 0
        }

        private let state = Mutex(State())
        let count: Int64

        init(_ count: Int64) { self.count = count }

        var acknowledged: Set<Int64> { state.withLock(\.acknowledged) }
        var repeated: Int { state.withLock(\.repeated) }

        func opened(at time: MonotonicTime) { state.withLock { $0.next = 1 } }

        func next(at time: MonotonicTime) -> MQTTTurn {
            state.withLock { state in
                while state.acknowledged.contains(state.next) { state.next += 1 }
                guard state.next <= count else { return .wait(until: nil) }
                defer { state.next += 1 }
                return .send(MQTTPublication(topic: "n", payload: Array("\(state.next)".utf8), tag: state.next))
            }
        }

        func acknowledged(_ tags: [Int64], at time: MonotonicTime) {
            state.withLock { state in
                for tag in tags where !state.acknowledged.insert(tag).inserted { state.repeated += 1 }
            }
        }

        func closed(at time: MonotonicTime) {}

        func farewell(forgetting: Bool) -> [MQTTPublication] { [] }
    }

    @Test func `a large message after an acknowledgement is skipped too, and later acknowledgements count`()
        async throws
    {
        let length = 200 << 20
        try Self.forgetPeak()
        let before = try Self.peak()
        let broker = try FakeBroker { connection, _ in
            try connection.greet()
            var ids: [[UInt8]] = []
            for number in 1...30 {
                let packet = try connection.receive()
                let text = Array("\(number)".utf8)
                guard packet.head == 0x32, packet.body.starts(with: [0, 1, UInt8(ascii: "n")]),
                    packet.body.dropFirst(5).elementsEqual(text)
                else { return }
                ids.append(Array(packet.body[3...4]))
            }
            guard Set(ids).count == ids.count else { return }
            // While 30 messages are unacknowledged.
            try connection.send([0x40, 2] + ids[0] + FakeBrokerConnection.message([], id: 3, announcing: length))
            let chunk = [UInt8](repeating: 7, count: 1 << 20)
            for _ in 0..<200 { try connection.send(chunk) }
            let packet = try connection.receive()
            guard packet.head == 0x40, packet.body == [0, 3] else { return }
            // Twice, of an unknown message, and byte by byte.
            try connection.send([0x40, 2] + ids[0] + [0x40, 2, 0xFF, 0xFE])
            for id in ids.dropFirst() { for byte in [0x40, 2] + id { try connection.send([byte]) } }
            try connection.send(FakeBrokerConnection.message(Array("after".utf8), qos: 0))
            connection.waitForEnd()
        }
        let numbers = Numbers(30)
        let rig = try MQTTRig(try .sample(port: broker.port), outbox: numbers)
        try await rig.wait(messages: 2, within: 60)
        #expect(rig.texts == ["large", "after"])
        #expect(numbers.acknowledged == Set(1...30))
        #expect(numbers.repeated == 0)
        let kibibytes = try Self.peak() - before
        #expect(kibibytes < 100 << 10, "\(kibibytes)")
    }

    @Test func `an acknowledgement whose length is not in one byte ends the connection`() async throws {
        let broker = try FakeBroker { connection, _ in
            try connection.greet()
            let packet = try connection.receive()
            try connection.send([0x40, 0x82, 0] + packet.body[3...4])
            connection.waitForEnd()
        }
        let rig = try MQTTRig(try .sample(port: broker.port), outbox: Numbers(1))
        #expect(try await rig.waitForFailure() == .notMQTT)
    }

    @Test func `a reset during the handshake of TLS is a refusal, and not a failure of the network`() async throws {
        let broker = try FakeBroker { connection, _ in
            var byte: UInt8 = 0
            guard recv(connection.descriptor, &byte, 1, 0) == 1 else { return }
            // The close resets the connection.
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        }
        for _ in 0..<10 {
            let rig = try MQTTRig(try .sample(port: broker.port, isSecure: true))
            let failure = try await rig.waitForFailure()
            #expect(failure.isRefusal, "\(failure)")
        }
    }

    @Test func `a broker that never acknowledges a message is left after 10 s, and the message comes again`()
        async throws
    {
        let broker = try FakeBroker { connection, number in
            try connection.greet()
            let packet = try connection.receive()
            guard number > 0 else { return connection.waitForEnd() }
            try connection.send([0x40, 2] + packet.body[3...4])
            connection.waitForEnd()
        }
        let numbers = Numbers(1)
        let rig = try MQTTRig(try .sample(port: broker.port), outbox: numbers)
        #expect(try await rig.waitForFailure() == .silent)
        #expect(numbers.acknowledged.isEmpty)
        try await rig.waitUntilConnected(times: 2)
        for _ in 0..<200 where numbers.acknowledged.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
        #expect(numbers.acknowledged == [1])
    }

    /// Returns the peak memory of this process since ``forgetPeak()``, in KiB (proc_pid_status(5)). The value of
    /// `getrusage` would start at the parent's peak.
    private static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    private static func forgetPeak() throws {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }
}
