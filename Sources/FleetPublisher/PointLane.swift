package import BackgrounderAPI
package import FoundationEssentials
import Glibc
package import SystemSupport

/// The order and the pace in which a publisher sends points: strictly oldest first, and each again until it is acknowledged.
///
/// A value without a clock: the caller passes the time.
package struct PointLane: Sendable {
    /// The next step of the lane.
    package enum Step: Sendable, Equatable {
        case send(PublishedPoint)
        /// Read the points after this one and pass them to ``add(_:requested:at:)``.
        case read(after: Int64, limit: Int)
        /// Nothing before this time, which is soon. Points that are stored until then are sent together.
        case gather(until: MonotonicTime)
        /// Nothing of the backlog before this time, which is soon.
        case pace(until: MonotonicTime)
        /// Nothing before this time; `nil` until a point is stored or acknowledged.
        case wait(until: MonotonicTime?)
    }

    private struct Sent {
        var id: Int64
        /// The ids directly before it that have no point any more.
        var gap: Int
        var time: MonotonicTime
        var isAcknowledged = false
    }

    /// Points that may be unacknowledged at a time: as many come again after a cut.
    package static let window = 32
    // Tuned: a few reads a second at full pace.
    private static let portion = 100
    /// The time between two reads while points are stored quickly. Tuned: less than a window at 100 points a second.
    fileprivate static let gathering = Duration.milliseconds(300)
    /// Points are stored quickly if they follow each other within this time. Tuned: those of a receiver with 10 Hz, not with 5 Hz.
    private static let quickly = Duration.milliseconds(150)

    /// Unacknowledged points, and those acknowledged before an older one, in the order of ids.
    private var sent: [Sent] = []
    /// Points that were read and not sent yet.
    private var waiting: ArraySlice<PublishedPoint> = []
    /// The id of the last point that was read.
    private var lastRead: Int64
    /// Whether the history may have points after `lastRead`.
    private var mayHaveMore = true
    /// The last read of points that came to the end of the history; `nil` before the first one of a connection.
    private var end: (time: MonotonicTime, count: Int)?
    /// When the backlog begins; `nil` without a backlog.
    private var backlogStart: MonotonicTime?
    private var pace: Pace
    private var meter = RateMeter()
    package private(set) var progress: PublishProgress

    /// Creates the lane of a publisher that has come as far as `progress`.
    package init(_ progress: PublishProgress, pace: Pace = Pace()) {
        (self.progress, self.pace) = (progress, pace)
        lastRead = progress.done
    }

    /// The acknowledged points a second, over the last seconds.
    package func rate(at time: MonotonicTime) -> Double { meter.rate(at: time) }

    /// When the backlog begins, if it waits for that.
    package func backlogStart(at time: MonotonicTime) -> MonotonicTime? {
        backlogStart.flatMap { $0 > time ? $0 : nil }
    }

    /// A connection began. Points that were not acknowledged are sent again.
    ///
    /// - Parameter backlogStart: when a backlog may begin.
    package mutating func opened(backlogStart: MonotonicTime) {
        closed()
        self.backlogStart = backlogStart
    }

    /// The connection is over.
    package mutating func closed() {
        sent = []
        waiting = []
        lastRead = progress.done
        mayHaveMore = true
        end = nil
        backlogStart = nil
    }

    /// The points that ``next(at:)`` returned last were not sent.
    package mutating func failed() {
        progress.published -= sent.count
        closed()
    }

    /// Sends the points after the one with the id `done`, some of them again, as a backlog that begins at `time` at the earliest.
    package mutating func rewind(to done: Int64, at time: MonotonicTime) {
        let start = max(backlogStart ?? time, time)
        progress.done = done
        closed()
        backlogStart = start
    }

    /// Points were deleted: those that were read and not sent yet are read again.
    package mutating func deleted() {
        waiting = []
        lastRead = sent.last?.id ?? progress.done
        (mayHaveMore, end) = (true, nil)
    }

    /// A point was stored.
    package mutating func stored() { mayHaveMore = true }

    /// Adds the points that ``Step/read(after:limit:)`` asked for; fewer than `limit` are the last ones.
    package mutating func add(_ points: [PublishedPoint], requested limit: Int, at time: MonotonicTime) {
        waiting += points
        lastRead = points.last?.id ?? lastRead
        mayHaveMore = points.count == limit
        guard !mayHaveMore else { return }
        if !points.isEmpty { end = (time, points.count) }
        if waiting.count <= Self.window { backlogStart = nil }
    }

    /// When the next points are read, if points are stored quickly.
    private func nextRead(at time: MonotonicTime) -> MonotonicTime? {
        guard let end else { return nil }
        let next = end.time + Self.gathering
        guard time < next else { return nil }
        // Several points in one read were stored quickly.
        return end.count > 1 || mayHaveMore && time < end.time + Self.quickly ? next : nil
    }

    /// Returns what to do next.
    package mutating func next(at time: MonotonicTime) -> Step {
        guard sent.count < Self.window else { return .wait(until: nil) }
        if waiting.isEmpty {
            if let time = nextRead(at: time) { return .gather(until: time) }
            return mayHaveMore ? .read(after: lastRead, limit: Self.portion) : .wait(until: nil)
        }
        if let backlogStart {
            let earliest = max(backlogStart, pace.next)
            if time < earliest {
                return earliest <= time + Self.gathering ? .pace(until: earliest) : .wait(until: earliest)
            }
            pace.sent(at: time)
        }
        let point = waiting.removeFirst()
        if waiting.isEmpty, !mayHaveMore { backlogStart = nil }
        let before = sent.last?.id ?? progress.done
        sent.append(Sent(id: point.id, gap: Int(point.id - before - 1), time: time))
        progress.published += 1
        return .send(point)
    }

    /// The broker acknowledged the point with this id.
    package mutating func acknowledged(_ id: Int64, at time: MonotonicTime, now: Date) {
        guard let index = sent.firstIndex(where: { $0.id == id && !$0.isAcknowledged }) else { return }
        sent[index].isAcknowledged = true
        meter.count(at: time)
        pace.acknowledged(after: sent[index].time.duration(to: time), at: time)
        while let first = sent.first, first.isAcknowledged {
            progress.done = first.id
            progress.acknowledged += 1
            progress.dropped += first.gap
            progress.lastAcknowledged = now
            sent.removeFirst()
        }
    }
}

/// The rate of events: a mean in which each event counts less the longer ago it was.
struct RateMeter: Sendable {
    /// Seconds after which an event counts 1/e. Tuned: steady at one point a second, and current enough for a person.
    private static let memory = 5.0

    private var value = 0.0
    private var last = MonotonicTime(seconds: 0)

    /// Counts an event.
    mutating func count(at time: MonotonicTime) {
        value = rate(at: time) + 1 / Self.memory
        last = time
    }

    /// Returns the events a second.
    func rate(at time: MonotonicTime) -> Double {
        // The acknowledgements of many events have one time.
        last < time ? value * exp(-last.duration(to: time).seconds / Self.memory) : value
    }
}

/// The pace of a backlog in points a second: it grows while the broker answers quickly, and halves when it does not.
package struct Pace: Sendable {
    // Tuned: a small start for a broker to which a whole fleet returns.
    private static let first = 50.0
    /// The greatest adaptive pace.
    package static let most = 500.0
    private static let step = 5.0
    private static let slow = Duration.seconds(2)
    private static let second = Duration.seconds(1)

    private let isAdaptive: Bool
    /// Points a second.
    package private(set) var rate: Double
    /// The points that were sent together last: since when, and how many.
    private var burst = (begin: MonotonicTime(seconds: 0), count: 0)
    private var delays: [Duration] = []
    private var since: MonotonicTime?

    /// Creates a pace.
    ///
    /// - Parameter fixed: points a second; `nil` for an adaptive pace.
    package init(fixed: Double? = nil) {
        isAdaptive = fixed == nil
        rate = fixed ?? Self.first
    }

    /// When the next point may be sent.
    package var next: MonotonicTime {
        burst.count < max(1, Int(rate * PointLane.gathering.seconds)) ? burst.begin : end
    }

    /// When the points after those of the burst may be sent.
    private var end: MonotonicTime {
        burst.begin + max(PointLane.gathering, .seconds(Double(burst.count) / rate))
    }

    mutating func sent(at time: MonotonicTime) {
        if time >= end { burst = (time, 0) }
        burst.count += 1
    }

    mutating func acknowledged(after delay: Duration, at time: MonotonicTime) {
        guard isAdaptive else { return }
        delays.append(delay)
        guard let since else { return self.since = time }
        guard since + Self.second <= time else { return }
        let slowest = delays.sorted()[delays.count * 95 / 100]
        rate = slowest > Self.slow ? max(1, rate / 2) : min(Self.most, rate + Self.step)
        (delays, self.since) = ([], time)
    }
}
