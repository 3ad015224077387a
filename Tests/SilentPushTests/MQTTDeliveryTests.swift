import BackgrounderAPI
import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import MQTTClient

/// Messages that are stored in portions while others arrive.
@Suite struct MQTTDeliveryTests {
    /// A store that records what it gets, and refuses some of it.
    private final class Recorder: Sendable {
        private struct State {
            var stored: [[String]] = []
            var isStoring = false
            var refused: String?
        }

        private let state: Mutex<State>
        let signal = Signal()

        /// - Parameter refused: the text of the message whose portion is refused once.
        init(refusing refused: String?) { state = Mutex(State(refused: refused)) }

        var stored: [[String]] { state.withLock(\.stored) }
        var hasRefused: Bool { state.withLock { $0.refused == nil } }

        func store(
            _ messages: [MQTTMessage],
            before: @Sendable () async -> MQTTDeliveryFailure?
        ) async -> MQTTDeliveryFailure? {
            if let failure = await before() { return failure }
            let texts = messages.map { String(decoding: $0.payload ?? [], as: UTF8.self) }
            state.withLock { state in
                #expect(!state.isStoring)
                state.isStoring = true
            }
            for _ in 0..<100 { await Task.yield() }
            let isRefused = state.withLock { state in
                state.isStoring = false
                if let refused = state.refused, texts.contains(refused) {
                    state.refused = nil
                    return true
                }
                state.stored.append(texts)
                return false
            }
            signal.post()
            return isRefused ? MQTTDeliveryFailure(reason: "the disk is full") : nil
        }
    }

    /// Portions of two messages.
    private static func options(port: Int) throws -> MQTTOptions {
        MQTTOptions(
            address: try BrokerAddress("mqtt://localhost:\(port)"),
            clientID: "portions",
            topics: [try TopicFilter("t")],
            batch: 8
        )
    }

    private func message(_ text: String) -> MQTTMessage { MQTTMessage(payload: Array(text.utf8), isRetained: false) }

    @Test func `portions are stored one after the other, and none after one that was refused`() async throws {
        let recorder = Recorder(refusing: "5")
        // It blocks its thread.
        try await QueueExecutor("delivery").run { () throws -> Void in
            var delivery = MQTTDelivery(recorder.store, onStored: {})
            #expect(try delivery.next(isPatient: true) == nil)
            delivery.add([message("1"), message("2")], ids: [1, 2])
            delivery.add([], ids: [])
            delivery.add([message("3")], ids: [])
            #expect(delivery.count == 3)
            #expect(try delivery.next(isPatient: true) == [1, 2])
            #expect(try delivery.next(isPatient: true) == [])
            #expect(try delivery.next(isPatient: true) == nil)
            #expect(delivery.count == 0)
            #expect(recorder.stored == [["1", "2"], ["3"]])
            for number in 4...7 as ClosedRange<UInt16> { delivery.add([message("\(number)")], ids: [number]) }
            #expect(try delivery.next(isPatient: true) == [4])
            for _ in 5...7 { #expect(throws: MQTTDeliveryFailure.self) { try delivery.next(isPatient: true) } }
            #expect(recorder.stored == [["1", "2"], ["3"], ["4"]])
            delivery.add([message("8")], ids: [8])
            delivery.finish()
            #expect(delivery.count == 0)
            #expect(recorder.stored.last == ["8"])
        }
    }

    @Test(arguments: ["2", "5", "8", "23", "40"])
    func `a refused portion is sent again, with all that came after it`(refused: String) async throws {
        let broker = try await Mosquitto()
        let options = try Self.options(port: broker.port)
        // The broker keeps the messages until the second session comes.
        let connected = Signal()
        let isConnected = Mutex(false)
        let first = try MQTTSession(options, thread: "first", storeAll: { _, _ in nil }) { report in
            isConnected.withLock { $0 = report == .connected(refused: nil) }
            connected.post()
        }
        _ = try await connected.wait(for: "the subscription") { isConnected.withLock(\.self) ? true : nil }
        first.end()
        first.waitForEnd(until: .now + .seconds(10))
        let texts = (1...40).map(String.init)
        try await broker.publish(texts)
        let recorder = Recorder(refusing: refused)
        let second = try MQTTSession(options, thread: "second", storeAll: recorder.store) { _ in }
        defer { second.end() }
        _ = try await recorder.signal.wait(for: "all messages") {
            recorder.stored.joined().contains("40") ? true : nil
        }
        #expect(recorder.hasRefused)
        #expect(Set(recorder.stored.joined()) == Set(texts))
        #expect(recorder.stored.allSatisfy { $0.count <= options.portion })
        // Without repeats, the order is that of the broker.
        var last = 0
        for number in recorder.stored.joined().compactMap({ Int($0) }) where number > last {
            #expect(number == last + 1)
            last = number
        }
    }

    @Test func `messages that arrived before the end of a connection are stored`() async throws {
        let broker = try FakeBroker { connection, number in
            try connection.greet()
            guard number == 0 else { return connection.waitForEnd() }
            try connection.send((1...5).flatMap { FakeBrokerConnection.message(Array("\($0)".utf8), qos: 0) })
        }
        let recorder = Recorder(refusing: nil)
        let failed = Signal()
        let failures = Mutex<[MQTTFailure]>([])
        let session = try MQTTSession(
            try Self.options(port: broker.port),
            thread: "portions",
            storeAll: recorder.store
        ) { report in
            if case .failed(let failure) = report { failures.withLock { $0.append(failure) } }
            failed.post()
        }
        defer { session.end() }
        _ = try await failed.wait(for: "the end") { failures.withLock { $0.isEmpty } ? nil : true }
        #expect(failures.withLock(\.self) == [.closed])
        #expect(recorder.stored.joined().elementsEqual(["1", "2", "3", "4", "5"]))
    }

    @Test func `stored messages are acknowledged while later ones are being stored`() async throws {
        let signal = Signal()
        let acknowledged = Mutex<[UInt8]>([])
        let broker = try FakeBroker { connection, _ in
            try connection.greet()
            try connection.send((1...4).flatMap { FakeBrokerConnection.message(Array("\($0)".utf8), id: UInt16($0)) })
            for _ in 1...4 {
                let packet = try connection.receive()
                acknowledged.withLock { $0 += [packet.head] + packet.body }
                signal.post()
            }
            connection.waitForEnd()
        }
        let options = try Self.options(port: broker.port)
        let first: [UInt8] = [0x40, 0, 1, 0x40, 0, 2]
        let session = try MQTTSession(options, thread: "portions") { messages, before in
            if let failure = await before() { return failure }
            guard messages.contains(where: { $0.payload == Array("3".utf8) }) else { return nil }
            // Not stored until the ones before are acknowledged.
            let isThere = try? await signal.wait(for: "the first", within: 20) {
                acknowledged.withLock { $0.starts(with: first) } ? true : nil
            }
            return isThere == nil ? MQTTDeliveryFailure(reason: "no acknowledgement") : nil
        } report: { _ in
        }
        defer { session.end() }
        _ = try await signal.wait(for: "all acknowledgements") {
            acknowledged.withLock { $0.count } == 12 ? true : nil
        }
        #expect(acknowledged.withLock(\.self) == first + [0x40, 0, 3, 0x40, 0, 4])
    }
}
