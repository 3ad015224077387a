import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import MQTTClient
@testable import SilentPush

@Suite struct PushLimiterTests {
    private static func at(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_795_000_000 + seconds) }

    @Test(
        arguments: [
            // Earlier starts, the first and the newest message, now, and when the fetch is due.
            ([], 0.0, 0.0, 0.0, 0.0), ([-10], 0, 0, 0, 0),
            // The third waits for a pause between messages, but not forever.
            ([-10, -5], 0, 0, 0, 5), ([-10, -5], 0, 300, 300, 305), ([-10, -5], 0, 599, 599, 600),
            // The fourth waits until the first is an hour old.
            ([-3000, -10, -5], 0, 1, 1, 600), ([-3599, -10, -5], 0, 0, 0, 5),
            // Two starts that are over an hour old free two places.
            ([-3700, -3600, -5], 0, 0, 0, 0), ([-3700, -3599, -5], 0, 0, 0, 1),
            // The clock was set back by a day: the wait is at most an hour.
            ([86_400, 86_401, 86_402], 0, 0, 0, 3600),
        ] as [([Double], Double, Double, Double, Double)]
    )
    func `a fetch waits for a pause between messages and for at most three fetches an hour`(
        starts: [Double],
        first: Double,
        newest: Double,
        now: Double,
        due: Double
    ) {
        var limiter = PushLimiter(starts: starts.map { Self.at($0) })
        #expect(limiter.due(first: Self.at(first), newest: Self.at(newest), now: Self.at(now)) == Self.at(due))
    }

    @Test func `no hour has more than three fetches, and the last message is always followed by one`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var (limiter, starts) = (PushLimiter(), [Double]())
            var waiting: (first: Double, newest: Double)?
            var (time, lastMessage) = (0.0, 0.0)
            let pace = Double.random(in: 0.1...2000, using: &random)
            func startIfDue(until limit: Double) {
                while let next = waiting {
                    let due = limiter.due(first: Self.at(next.first), newest: Self.at(next.newest), now: Self.at(time))
                    let seconds = due.timeIntervalSince(Self.at(0))
                    guard seconds <= limit else { return }
                    time = max(time, seconds)
                    limiter.began(at: Self.at(time))
                    starts.append(time)
                    waiting = nil
                }
            }
            for _ in 0..<60 {
                let next = time + Double.random(in: 0...pace, using: &random)
                startIfDue(until: next)
                (time, lastMessage) = (next, next)
                waiting = (waiting?.first ?? next, next)
                startIfDue(until: next)
            }
            startIfDue(until: time + 3600)
            #expect(waiting == nil)
            #expect((starts.last ?? 0) >= lastMessage)
            for (first, fourth) in zip(starts, starts.dropFirst(3)) { #expect(fourth - first >= 3599.999) }
        }
    }

    @Test func `a start that is taken back does not count`() {
        var limiter = PushLimiter(starts: [Self.at(0), Self.at(1)])
        limiter.began(at: Self.at(2))
        limiter.undo(Self.at(2))
        #expect(limiter == PushLimiter(starts: [Self.at(0), Self.at(1)]))
    }
}
