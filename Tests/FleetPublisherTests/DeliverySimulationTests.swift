import BackgrounderAPI
import Foundation
import MQTTClient
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import FleetPublisher

/// The outbox of a machine over days of cuts, crashes and power cuts, against a model of the store and of the broker.
///
/// A run is about five days; `FLEET_RUNS=200` makes a thousand of them.
@Suite(.computing) struct DeliverySimulationTests {
    private static let runs = ProcessInfo.processInfo.environment["FLEET_RUNS"].flatMap { Int($0) } ?? 5

    /// The store, which loses unsynced changes in a power cut.
    private final class History: PublisherJournal {
        struct State {
            var points: [PublishedPoint] = []
            var progress = PublishProgress(done: 0)
            /// The progress that the next point saves.
            var nextProgress: PublishProgress?
            /// The number of points and the progress that are on the disk.
            var durable = (points: 0, progress: PublishProgress(done: 0))
            var generation = 0
            var deleted = 0
            var isFailing = false
        }

        struct Failure: Error {}

        let state = Mutex(State())

        func points(after id: Int64, limit: Int) throws -> [PublishedPoint] {
            try state.withLock { state in
                if state.isFailing { throw Failure() }
                let first = state.points.partitioningIndex { $0.id > id }
                return Array(state.points[first...].prefix(limit))
            }
        }

        var deletions: Int { state.withLock(\.deleted) }

        func save(_ progress: PublishProgress, of publisher: String) throws {
            state.withLock { ($0.progress, $0.nextProgress) = (progress, nil) }
        }

        func saveWithNextPoints(_ progress: PublishProgress, of publisher: String) -> Bool {
            state.withLock { state in
                defer { state.nextProgress = progress }
                return state.nextProgress != nil
            }
        }

        func newestPointID() async throws -> Int64 { 0 }
        func lastPoint(before time: Date) async throws -> Int64 { 0 }
        func answered(_ command: String) throws {}

        func setPaused(_ isPaused: Bool, of publisher: String) async throws {}
        func change(removing: [String], adding: [StoredPublisher], adopting: [String]) async throws {}

        func append(_ location: Location) {
            state.withLock { state in
                let id = (state.points.last?.id ?? 0) + 1
                let generation = String(format: "%08x", state.generation)
                state.points.append(
                    PublishedPoint(id: id, generation: generation, recorded: location.timestamp, location: location)
                )
                if let progress = state.nextProgress { (state.progress, state.nextProgress) = (progress, nil) }
            }
        }

        func sync() { state.withLock { $0.durable = ($0.points.count, $0.progress) } }

        /// Begins again: with everything after a crash, with what was synced after a power cut.
        func restart(isPowerCut: Bool) -> PublishProgress {
            state.withLock { state in
                if isPowerCut {
                    state.points.removeLast(state.points.count - state.durable.points)
                    state.progress = state.durable.progress
                }
                state.generation += 1
                state.nextProgress = nil
                state.durable = (state.points.count, state.progress)
                state.progress.done = min(state.progress.done, state.points.last?.id ?? 0)
                return state.progress
            }
        }
    }

    /// The run of one machine.
    private struct Machine {
        let history = History()
        var outbox: PointOutbox
        var random: SeededGenerator
        var time = 0.0
        var isConnected = false
        /// Sent and not acknowledged.
        var flight: [Int64] = []
        var received: [String: [UInt8]] = [:]
        var contradictions = 0
        var sent = 0
        var cuts = 0
        var stored = 0
        /// Whether the outbox has said when to ask it again.
        var hasPlan = false
        /// The points that the session would miss.
        var unnoticed = 0

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            outbox = try Self.outbox(history, PublishProgress(done: 0))
        }

        private static func outbox(_ history: History, _ progress: PublishProgress) throws -> PointOutbox {
            let publisher = StoredPublisher(
                name: "p",
                address: try PublisherAddress("mqtt://b"),
                machine: try MachineID("m"),
                topic: "t",
                progress: progress
            )
            return PointOutbox(
                publisher,
                position: nil,
                startWithin: .seconds(60),
                pace: Pace(),
                queue: MessageQueue(),
                journal: history
            )
        }

        private var now: MonotonicTime { MonotonicTime(seconds: time) }

        mutating func connect() {
            isConnected = true
            flight = []
            outbox.opened(at: now)
        }

        mutating func cut() {
            guard isConnected else { return }
            isConnected = false
            cuts += 1
            outbox.closed(at: now)
        }

        mutating func restart(isPowerCut: Bool) throws {
            // The process ends without a word, so nothing is saved.
            if isConnected { cuts += 1 }
            isConnected = false
            outbox = try Self.outbox(history, history.restart(isPowerCut: isPowerCut))
        }

        mutating func store() {
            stored += 1
            let location = Location(
                latitude: Double.random(in: -90...90, using: &random),
                longitude: 1,
                timestamp: Date(timeIntervalSince1970: 1.7e9 + time),
                mode: 3
            )
            history.append(location)
            if !outbox.stored(location), !hasPlan { unnoticed += 1 }
        }

        /// Lets the session work until the outbox waits.
        mutating func exchange(loss: Double) {
            guard isConnected else { return }
            while true {
                switch outbox.next(at: now) {
                case .wait(let time): hasPlan = time != nil
                case .send(let message):
                    if let tag = message.tag, tag > 0 {
                        sent += 1
                        take(message)
                        flight.append(tag)
                    }
                    continue
                }
                if flight.isEmpty || Double.random(in: 0...1, using: &random) < loss { return }
                outbox.acknowledged([flight.removeFirst()], at: now)
            }
        }

        private mutating func take(_ message: MQTTPublication) {
            // A decoder would take most of the time of the simulation.
            let parts = message.payload.split(separator: UInt8(ascii: "\""), maxSplits: 8)
            let isKey = parts.count > 7 && parts[5].elementsEqual("_id".utf8)
            let key = isKey ? String(decoding: parts[7], as: UTF8.self) : ""
            let known = received.updateValue(message.payload, forKey: key)
            if let known, known != message.payload { contradictions += 1 }
        }
    }

    @Test(arguments: 0..<runs)
    func `no point is lost or changed over days of cuts, crashes and power cuts`(seed: Int) throws {
        var machine = try Machine(seed: UInt64(seed))
        machine.connect()
        for _ in 0..<30_000 {
            machine.time += Double.random(in: 0.1...20, using: &machine.random)
            let event = Double.random(in: 0...1, using: &machine.random)
            switch event {
            case ..<0.003: machine.cut()
            case ..<0.004: try machine.restart(isPowerCut: false)
            case ..<0.005: try machine.restart(isPowerCut: true)
            case ..<0.008 where !machine.isConnected: machine.connect()
            case ..<0.009: machine.time += Double.random(in: 0...7200, using: &machine.random)
            case ..<0.012: machine.history.state.withLock { $0.isFailing.toggle() }
            case ..<0.3: machine.history.sync()
            case ..<0.9: machine.store()
            default: break
            }
            machine.exchange(loss: 0.1)
        }
        // The link is good at last.
        machine.history.state.withLock { $0.isFailing = false }
        machine.cut()
        machine.connect()
        let points = machine.history.state.withLock { $0.points }
        for _ in 0..<200_000 where machine.outbox.report.progress.done != points.last?.id {
            machine.time += 0.1
            machine.exchange(loss: 0)
        }
        let messages = PublisherMessages(
            StoredPublisher(
                name: "p",
                address: try PublisherAddress("mqtt://b"),
                machine: try MachineID("m"),
                topic: "t",
                progress: PublishProgress(done: 0)
            )
        )
        let lost = points.filter { machine.received["\($0.generation)-\($0.id)"] != messages.point($0).payload }
        #expect(lost.isEmpty, "\(lost.count) of \(points.count)")
        #expect(points.count > 10_000)
        #expect(machine.contradictions == 0)
        #expect(machine.unnoticed == 0)
        #expect(machine.outbox.report.progress.done == points.last?.id)
        #expect(machine.outbox.report.progress.dropped == 0)
        // The window of each cut, and what was acknowledged and not saved before a crash.
        let repeated = machine.sent - machine.received.count
        #expect(repeated <= machine.cuts * 2 * PointLane.window, "\(repeated) repetitions, \(machine.cuts) cuts")
    }
}

extension Array {
    /// Returns the first index whose element fulfils `isAfter`, which all further elements do too.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
