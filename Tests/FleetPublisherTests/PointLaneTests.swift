import BackgrounderAPI
import Foundation
import SystemSupport
import Testing

@testable import FleetPublisher

/// The order, the window and the pace of the points.
@Suite struct PointLaneTests {
    /// A history with these ids.
    private static func points(_ ids: some Sequence<Int>) -> [PublishedPoint] {
        ids.map { id in
            let location = Location(
                latitude: 1,
                longitude: 2,
                timestamp: Date(timeIntervalSince1970: Double(id)),
                mode: 3
            )
            return PublishedPoint(
                id: Int64(id),
                generation: "00000001",
                recorded: location.timestamp,
                location: location
            )
        }
    }

    /// A lane with a history and a clock.
    private struct Rig {
        var lane: PointLane
        var history: [PublishedPoint]
        var time = MonotonicTime(seconds: 1000)
        var sent: [(id: Int64, time: Double)] = []

        init(_ ids: some Sequence<Int>, done: Int64 = 0, pace: Pace = Pace()) {
            lane = PointLane(PublishProgress(done: done), pace: pace)
            history = PointLaneTests.points(ids)
        }

        /// Sends until the lane waits; returns for when.
        mutating func run() -> MonotonicTime? {
            while true {
                switch lane.next(at: time) {
                case .send(let point): sent.append((point.id, time.seconds))
                case .read(let id, let limit):
                    lane.add(Array(history.filter { $0.id > id }.prefix(limit)), requested: limit, at: time)
                case .gather(let until), .pace(let until): return until
                case .wait(let until): return until
                }
            }
        }

        private mutating func runAndAcknowledge() -> MonotonicTime? {
            defer { acknowledge(sent.map { Int($0.id) }) }
            return run()
        }

        /// Stores points at a rate, and sends whenever the lane wants to. Returns the times at which it sent points.
        mutating func store(_ count: Int, rate: Double) -> [Double] {
            let (begin, first) = (time.seconds, (history.last?.id ?? 0) + 1)
            sent = []
            var next: MonotonicTime?
            for number in 0..<count {
                let stored = MonotonicTime(seconds: begin + Double(number) / rate)
                while let turn = next, turn <= stored {
                    time = turn
                    next = runAndAcknowledge()
                }
                time = stored
                history += PointLaneTests.points([Int(first) + number])
                lane.stored()
                next = runAndAcknowledge()
            }
            while let turn = next {
                time = turn
                next = runAndAcknowledge()
            }
            return Set(sent.map(\.time)).sorted()
        }

        mutating func acknowledge(_ ids: some Sequence<Int>) {
            for id in ids { lane.acknowledged(Int64(id), at: time, now: Date(timeIntervalSince1970: 5)) }
        }
    }

    @Test func `points that are deleted while they wait for the backlog are not sent, and count as dropped`() {
        var rig = Rig(1...200)
        rig.lane.opened(backlogStart: rig.time + .seconds(30))
        #expect(rig.run() == rig.time + .seconds(30))
        rig.history.removeAll { $0.id <= 190 }
        rig.lane.deleted()
        rig.time = rig.time + .seconds(30)
        while let next = rig.run() {
            rig.time = next
            rig.acknowledge(rig.sent.map { Int($0.id) })
        }
        rig.acknowledge(191...200)
        #expect(rig.sent.map(\.id) == Array(191...200))
        #expect(rig.lane.progress.done == 200)
        #expect(rig.lane.progress.dropped == 190)
    }

    @Test func `points that are sent again after a rewind keep the pace`() {
        var rig = Rig(1...100, done: 100, pace: Pace(fixed: 10))
        rig.lane.opened(backlogStart: rig.time)
        #expect(rig.run() == nil)
        rig.lane.rewind(to: 0, at: rig.time)
        let next = rig.run()
        #expect(rig.sent.map(\.id) == [1, 2, 3])
        #expect(next.map { $0 > rig.time } == true)
    }

    @Test func `points that are stored quickly are sent together, others without delay`() {
        for rate in [1.0, 5] {
            var slow = Rig([])
            #expect(slow.store(20, rate: rate).count == 20)
            #expect(slow.sent.allSatisfy { $0.time == 1000 + Double($0.id - 1) / rate }, "\(rate)")
        }
        var quick = Rig([])
        let times = quick.store(200, rate: 100)
        #expect(quick.sent.map(\.id) == Array(1...200))
        #expect((7...9).contains(times.count), "\(times.count)")
        #expect(quick.sent.allSatisfy { $0.time - (1000 + Double($0.id - 1) / 100) < 0.301 })
        // The first point of another connection waits for nothing.
        quick.history += Self.points([201])
        quick.lane.closed()
        quick.lane.opened(backlogStart: quick.time)
        _ = quick.run()
        #expect(quick.sent.last?.id == 201)
        #expect(quick.lane.next(at: quick.time) == .wait(until: nil))
    }

    @Test func `points that are stored faster than the pace do not delay a later backlog`() {
        var rig = Rig([], pace: Pace(fixed: 10))
        rig.lane.opened(backlogStart: rig.time)
        _ = rig.store(1000, rate: 100)
        #expect(rig.lane.progress.done == 1000)
        rig.lane.closed()
        rig.history += Self.points(1001...1100)
        rig.sent = []
        rig.lane.opened(backlogStart: rig.time)
        #expect(rig.run() == rig.time + .milliseconds(300))
        #expect(rig.sent.map(\.id) == [1001, 1002, 1003])
    }

    @Test func `points are sent oldest first, and at most a window of them is unacknowledged`() {
        var rig = Rig(1...40)
        #expect(rig.run() == nil)
        #expect(rig.sent.map(\.id) == Array(1...32))
        rig.acknowledge([1, 2])
        _ = rig.run()
        #expect(rig.sent.map(\.id) == Array(1...34))
        #expect(rig.lane.progress.done == 2)
        #expect(rig.lane.progress.lastAcknowledged == Date(timeIntervalSince1970: 5))
    }

    @Test func `acknowledgements in another order, twice or of other points change nothing`() {
        var rig = Rig(1...5)
        _ = rig.run()
        rig.acknowledge([3, 3, 9, 2])
        #expect(rig.lane.progress.done == 0)
        #expect(rig.lane.progress.acknowledged == 0)
        rig.acknowledge([1])
        #expect(rig.lane.progress.done == 3)
        #expect(rig.lane.progress.acknowledged == 3)
    }

    @Test func `a cut repeats what was not acknowledged`() {
        var rig = Rig(1...40)
        _ = rig.run()
        rig.acknowledge(1...5)
        rig.lane.closed()
        rig.lane.opened(backlogStart: rig.time)
        rig.sent = []
        _ = rig.run()
        #expect(rig.sent.first?.id == 6)
        #expect(rig.lane.progress.published == 32 + rig.sent.count)
    }

    @Test func `a failed attempt leaves no trace`() {
        var rig = Rig(1...5)
        let before = rig.lane.progress
        _ = rig.run()
        rig.lane.failed()
        #expect(rig.lane.progress == before)
        rig.sent = []
        _ = rig.run()
        #expect(rig.sent.map(\.id) == Array(1...5))
    }

    @Test func `deleted points count as dropped once, when the next one arrives`() {
        var rig = Rig([4, 5, 9], done: 1)
        _ = rig.run()
        #expect(rig.lane.progress.dropped == 0)
        rig.lane.closed()
        rig.lane.opened(backlogStart: rig.time)
        _ = rig.run()
        rig.acknowledge([4, 5, 9])
        #expect(rig.lane.progress.dropped == 5)
        #expect(rig.lane.progress.done == 9)
    }

    @Test func `a backlog begins when its time has come, and a few points immediately`() {
        var rig = Rig(1...500)
        rig.lane.opened(backlogStart: rig.time + .seconds(30))
        #expect(rig.run() == rig.time + .seconds(30))
        #expect(rig.sent.isEmpty)
        #expect(rig.lane.backlogStart(at: rig.time) == rig.time + .seconds(30))
        rig.time = rig.time + .seconds(30)
        #expect(rig.lane.backlogStart(at: rig.time) == nil)
        _ = rig.run()
        #expect(!rig.sent.isEmpty)

        var few = Rig(1...32)
        few.lane.opened(backlogStart: few.time + .seconds(30))
        _ = few.run()
        #expect(few.sent.count == 32)
    }

    @Test func `a fixed pace is kept, and a new point is sent without delay after the backlog`() {
        var rig = Rig(1...400, pace: Pace(fixed: 100))
        rig.lane.opened(backlogStart: rig.time)
        let begin = rig.time.seconds
        while let next = rig.run() {
            rig.acknowledge(rig.sent.map { Int($0.id) }.suffix(32))
            rig.time = next
        }
        rig.acknowledge(380...400)
        #expect(rig.sent.map(\.id) == Array(1...400))
        let duration = rig.time.seconds - begin
        #expect((3.5...4.0).contains(duration), "\(duration)")
        rig.history += Self.points([401])
        rig.lane.stored()
        _ = rig.run()
        #expect(rig.sent.last?.id == 401)
        #expect(rig.sent.last?.time == rig.time.seconds)
    }

    @Test func `the pace grows while the broker is quick, and halves while it is slow`() {
        var pace = Pace()
        var time = MonotonicTime(seconds: 0)
        func second(_ delay: Duration) {
            for _ in 0..<50 {
                time = time + .milliseconds(25)
                pace.acknowledged(after: delay, at: time)
            }
        }
        for _ in 0..<20 { second(.milliseconds(100)) }
        #expect((130...200).contains(pace.rate), "\(pace.rate)")
        for _ in 0..<200 { second(.milliseconds(100)) }
        #expect(pace.rate == Pace.most)
        second(.seconds(3))
        second(.seconds(3))
        #expect(pace.rate <= Pace.most / 2)
        for _ in 0..<50 { second(.seconds(3)) }
        #expect(pace.rate == 1)
    }

    @Test func `the rate is that of the last seconds`() {
        var meter = RateMeter()
        #expect(meter.rate(at: MonotonicTime(seconds: 100)) == 0)
        for second in 0..<60 { meter.count(at: MonotonicTime(seconds: 100 + Double(second))) }
        #expect(abs(meter.rate(at: MonotonicTime(seconds: 159.5)) - 1) < 0.1)
        for step in 0..<1000 { meter.count(at: MonotonicTime(seconds: 160 + Double(step) / 50)) }
        #expect(abs(meter.rate(at: MonotonicTime(seconds: 180)) - 50) < 2)
        #expect(meter.rate(at: MonotonicTime(seconds: 240)) < 0.1)
    }
}
