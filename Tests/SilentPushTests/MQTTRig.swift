import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport

@testable import MQTTClient
@testable import SilentPush

/// A session that records its messages and states.
final class MQTTRig: Sendable {
    private struct Heard {
        var messages: [MQTTMessage] = []
        var reports: [MQTTReport] = []
        var isFull = false
    }

    private let heard: SharedHeard
    let session: MQTTSession
    var signal: Signal { heard.signal }

    private final class SharedHeard: Sendable {
        let heard = Mutex(Heard())
        let signal = Signal()
    }

    /// - Parameter outbox: what the session publishes.
    init(_ push: StoredPush, outbox: (any MQTTOutbox)? = nil, batch: Int = 1) throws {
        let heard = SharedHeard()
        self.heard = heard
        var options = push.options
        options.batch = batch
        session = try MQTTSession(options, thread: "push", outbox: outbox) { message in
            let isFull = heard.heard.withLock { heard in
                if !heard.isFull { heard.messages.append(message) }
                return heard.isFull
            }
            heard.signal.post()
            return isFull ? MQTTDeliveryFailure(reason: "the disk is full") : nil
        } report: { report in
            heard.heard.withLock { $0.reports.append(report) }
            heard.signal.post()
        }
    }

    deinit { session.end() }

    var reports: [MQTTReport] { heard.heard.withLock { $0.reports } }
    var messages: [MQTTMessage] { heard.heard.withLock { $0.messages } }
    var texts: [String] { messages.map { $0.payload.map { String(decoding: $0, as: UTF8.self) } ?? "large" } }

    func fill(_ isFull: Bool) { heard.heard.withLock { $0.isFull = isFull } }

    func waitUntilConnected(times: Int = 1, within seconds: Double = 30) async throws {
        _ = try await signal.wait(for: "connection \(times), only \(reports)", within: seconds) {
            reports.count { $0 == .connected(refused: nil) } >= times ? true : nil
        }
    }

    func wait(messages count: Int, within seconds: Double = 30) async throws {
        _ = try await signal.wait(for: "\(count) messages", within: seconds) { messages.count >= count ? true : nil }
    }

    /// Returns the first failure.
    func waitForFailure(within seconds: Double = 30) async throws -> MQTTFailure {
        return try await signal.wait(for: "a failure", within: seconds) {
            for case .failed(let failure) in reports { return failure }
            return nil
        }
    }
}
