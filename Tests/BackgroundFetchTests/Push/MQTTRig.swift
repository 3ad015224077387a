import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport

@testable import BackgroundFetch

/// A session, and what it brought.
final class MQTTRig: Sendable {
    private struct Heard {
        var messages: [MQTTMessage] = []
        var standings: [MQTTStanding] = []
        var isFull = false
    }

    private let heard: SharedHeard
    let session: MQTTSession
    var signal: Signal { heard.signal }

    private final class SharedHeard: Sendable {
        let heard = Mutex(Heard())
        let signal = Signal()
    }

    init(_ push: StoredPush) throws {
        let heard = SharedHeard()
        self.heard = heard
        session = try MQTTSession(push) { message in
            let isFull = heard.heard.withLock { heard in
                if !heard.isFull { heard.messages.append(message) }
                return heard.isFull
            }
            heard.signal.post()
            return isFull ? MQTTDeliveryFailure(reason: "the disk is full") : nil
        } report: { standing in
            heard.heard.withLock { $0.standings.append(standing) }
            heard.signal.post()
        }
    }

    deinit { session.end() }

    var standings: [MQTTStanding] { heard.heard.withLock { $0.standings } }
    var messages: [MQTTMessage] { heard.heard.withLock { $0.messages } }
    var texts: [String] { messages.map { $0.payload.map { String(decoding: $0, as: UTF8.self) } ?? "large" } }

    func fill(_ isFull: Bool) { heard.heard.withLock { $0.isFull = isFull } }

    func waitUntilConnected(times: Int = 1, within seconds: Double = 30) async throws {
        _ = try await signal.wait(for: "connection \(times), only \(standings)", within: seconds) {
            standings.count { $0 == .connected } >= times ? true : nil
        }
    }

    func wait(messages count: Int, within seconds: Double = 30) async throws {
        _ = try await signal.wait(for: "\(count) messages", within: seconds) { messages.count >= count ? true : nil }
    }

    /// The first failure.
    func waitForFailure(within seconds: Double = 30) async throws -> MQTTFailure {
        return try await signal.wait(for: "a failure", within: seconds) {
            for case .failed(let failure) in standings { return failure }
            return nil
        }
    }
}
