import BackgrounderAPI
import Foundation
import MQTTClient
import Synchronization
import SystemSupport
import Testing

@testable import FleetPublisher

/// The messages of a session, in virtual time.
@Suite struct PointOutboxTests {
    private final class History: PublisherJournal {
        private let points = Mutex<[PublishedPoint]>([])

        func append(_ location: Location) {
            points.withLock { points in
                let id = Int64(points.count + 1)
                points.append(PublishedPoint(id: id, generation: "1", recorded: location.timestamp, location: location))
            }
        }

        func points(after id: Int64, limit: Int) throws -> [PublishedPoint] {
            points.withLock { Array($0.filter { $0.id > id }.prefix(limit)) }
        }

        private let deleted = Mutex(0)
        var deletions: Int { deleted.withLock(\.self) }

        /// Deletes points, as the store does; their ids are not used again.
        func delete(_ ids: ClosedRange<Int64>) {
            points.withLock { $0.removeAll { ids.contains($0.id) } }
            deleted.withLock { $0 += 1 }
        }

        func newestPointID() async throws -> Int64 { 0 }
        func lastPoint(before time: Date) async throws -> Int64 { 0 }
        func save(_ progress: PublishProgress, of publisher: String) throws {}
        func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool { false }
        func answered(_ command: String) throws {}
        func setPaused(_ isPaused: Bool, of publisher: String) async throws {}
        func change(removing: [String], adding: [StoredPublisher], adopting: [String]) async throws {}
    }

    /// A session whose broker acknowledges immediately.
    private struct Session {
        let outbox: PointOutbox
        /// When the outbox was asked, and when the thread wakes up again.
        var turns: [MonotonicTime] = []
        var next: MonotonicTime?
        /// When positions were sent, and the number of points.
        var positions: [MonotonicTime] = []
        var points = 0

        mutating func turn(at time: MonotonicTime) {
            turns.append(time)
            while true {
                switch outbox.next(at: time) {
                case .wait(let next): return self.next = next
                case .send(let message):
                    if message.topic.hasSuffix("/live") { positions.append(time) }
                    guard let tag = message.tag else { continue }
                    if tag > PublisherMessages.noTag { points += 1 }
                    outbox.acknowledged([tag], at: time)
                }
            }
        }
    }

    private func session(_ history: History, startWithin: Duration) throws -> Session {
        let publisher = StoredPublisher(
            name: "p",
            address: try PublisherAddress("mqtt://b"),
            machine: try MachineID("m"),
            topic: "t",
            progress: PublishProgress(done: 0)
        )
        return Session(
            outbox: PointOutbox(
                publisher,
                position: nil,
                startWithin: startWithin,
                pace: Pace(),
                queue: MessageQueue(),
                journal: history
            )
        )
    }

    @Test func `points that are deleted before the backlog begins are not sent`() throws {
        let history = History()
        for number in 1...200 {
            let time = Date(timeIntervalSince1970: Double(number))
            history.append(Location(latitude: 48, longitude: 11, timestamp: time))
        }
        var session = try session(history, startWithin: .seconds(60))
        session.outbox.opened(at: MonotonicTime(seconds: 1000))
        session.turn(at: MonotonicTime(seconds: 1000))
        #expect(session.points == 0)
        history.delete(1...195)
        while let next = session.next { session.turn(at: next) }
        #expect(session.points == 5)
        #expect(session.outbox.report.progress.dropped == 195)
    }

    @Test func `the position goes with points that are stored quickly`() throws {
        let history = History()
        var session = try session(history, startWithin: .zero)
        let start = 1000.0
        session.outbox.opened(at: MonotonicTime(seconds: start))
        session.turn(at: MonotonicTime(seconds: start))
        for number in 1...1000 {
            let time = MonotonicTime(seconds: start + Double(number) / 100)
            while let next = session.next, next <= time { session.turn(at: next) }
            let location = Location(latitude: 48, longitude: 11, timestamp: Date(timeIntervalSince1970: time.seconds))
            history.append(location)
            if session.outbox.stored(location) { session.turn(at: time) }
        }
        #expect((960...1000).contains(session.points), "\(session.points)")
        // The first position is sent immediately, and each later one in a turn with points.
        #expect(session.positions.first?.seconds == start + 0.01)
        let gaps = zip(session.positions, session.positions.dropFirst()).map { $0.duration(to: $1) }
        #expect(gaps.allSatisfy { (.milliseconds(900)...(.milliseconds(1200))).contains($0) }, "\(gaps)")
        // One each 300 ms, the first ones apart.
        #expect((33...37).contains(session.turns.count), "\(session.turns.count)")
    }
}
