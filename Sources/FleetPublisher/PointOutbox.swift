import BackgrounderAPI
import FoundationEssentials
import MQTTClient
import Synchronization
import SystemSupport

/// The messages of one publisher for its session: the greetings, the newest position, and the points of the history. Any thread.
///
/// The session's thread and the callers of ``rewind(to:)`` and ``end()`` use the journal. Nothing uses it after ``end()``.
final class PointOutbox: MQTTOutbox {
    /// The state for the status.
    struct Report: Sendable {
        var progress: PublishProgress
        /// Acknowledged points a second.
        var rate: Double
        var live: Date?
        /// The time until the backlog begins; `nil` if it does not wait.
        var backlogWait: Duration?
        /// Why the history cannot be read.
        var fault: String?
    }

    /// The changes since the session's thread looked last.
    private struct News {
        var position: Location?
        var hasPoints = false
        var status: [UInt8]?
        /// Whether the session looks soon without being woken.
        var isAwaited = false
    }

    private struct State {
        var lane: PointLane
        /// That of the journal when the lane's points were read.
        var deletions = 0
        var greetings: [MQTTPublication] = []
        /// The newest position.
        var position: Location?
        var isPositionSent = false
        var nextPosition = MonotonicTime(seconds: 0)
        var live: Date?
        /// The status document.
        var status: [UInt8]?
        var isStatusSent = false
        /// The tag of the last message of the queue that was sent on this connection.
        var lastQueued = PublisherMessages.noTag
        var saved: PublishProgress
        /// The acknowledgements since the progress was saved.
        var unsaved = 0
        var fault: String?
        var isEnded = false
    }

    // Tuned: an operator who follows a machine does not see more. A little less than a second, so that each point of a receiver
    // with 1 Hz comes late enough.
    private static let positionInterval = Duration.milliseconds(900)
    /// The acknowledgements after which the progress has a write of its own, if no points come with which it is saved.
    private static let mostUnsaved = PointLane.window
    private static let retry = Duration.seconds(5)

    let messages: PublisherMessages
    private let name: String
    private let journal: any PublisherJournal
    private let queue: MessageQueue
    /// The longest time that a backlog waits after a connection; the machines of a fleet do not begin together.
    private let startWithin: Duration
    private let state: Mutex<State>
    /// Apart from the state, which is locked while the history is read.
    private let news = Mutex(News())

    /// - Parameters:
    ///   - position: the newest point.
    init(
        _ publisher: StoredPublisher,
        position: Location?,
        startWithin: Duration,
        pace: Pace,
        queue: MessageQueue,
        journal: any PublisherJournal
    ) {
        (name, self.journal, self.startWithin) = (publisher.name, journal, startWithin)
        self.queue = queue
        messages = PublisherMessages(publisher)
        state = Mutex(
            State(lane: PointLane(publisher.progress, pace: pace), position: position, saved: publisher.progress)
        )
    }

    /// A point was stored. Returns whether the session has to be woken.
    func stored(_ newest: Location) -> Bool {
        news.withLock { news in
            news.position = newest
            news.hasPoints = true
            return !news.isAwaited
        }
    }

    /// Sends the position again.
    func resend(_ position: Location) { news.withLock { $0.position = position } }

    /// Sends an event at a place, now or once there is a connection.
    func post(place event: [UInt8]) {
        if !messages.isForServer { queue.post(event, topic: messages.placeTopic, command: nil) }
    }

    /// Replaces the status document.
    func setStatus(_ document: [UInt8]) { news.withLock { $0.status = document } }

    /// Sends the points after the one with the id `done` again. Blocks the calling thread.
    func rewind(to done: Int64) {
        state.withLock { state in
            state.lane.rewind(to: done, at: .now)
            save(&state)
        }
    }

    /// Saves the progress and uses the journal no more. Blocks the calling thread.
    func end() {
        state.withLock { state in
            save(&state)
            state.isEnded = true
        }
    }

    /// The state for the status. It may wait for a read of the history.
    var report: Report {
        state.withLock { state in
            let now = MonotonicTime.now
            return Report(
                progress: state.lane.progress,
                rate: state.lane.rate(at: now),
                live: state.live,
                backlogWait: state.lane.backlogStart(at: now).map { now.duration(to: $0) },
                fault: state.fault
            )
        }
    }

    // MARK: The session

    func opened(at time: MonotonicTime) {
        let delay = startWithin * Double.random(in: 0...1)
        state.withLock { state in
            state.lane.opened(backlogStart: time + delay)
            if messages.isForServer { return }
            state.greetings = messages.greetings
            (state.isPositionSent, state.nextPosition, state.isStatusSent) = (false, time, false)
            state.lastQueued = PublisherMessages.noTag
        }
    }

    func next(at time: MonotonicTime) -> MQTTTurn {
        state.withLock { state in
            if state.isEnded { return .wait(until: nil) }
            hear(&state)
            if messages.isForServer { return nextPoint(&state, at: time, orAt: nil) }
            if !state.greetings.isEmpty { return .send(state.greetings.removeFirst()) }
            if let message = queue.next(after: state.lastQueued) {
                state.lastQueued = message.tag ?? state.lastQueued
                return .send(message)
            }
            if !state.isStatusSent, let status = state.status {
                state.isStatusSent = true
                return .send(messages.status(status))
            }
            let position = state.isPositionSent ? nil : state.position
            if let position, state.nextPosition <= time {
                state.isPositionSent = true
                state.nextPosition = time + Self.positionInterval
                state.live = Date()
                return .send(messages.live(position))
            }
            return nextPoint(&state, at: time, orAt: position == nil ? nil : state.nextPosition)
        }
    }

    /// Returns the next point, or when to ask again: at the latest at `other`.
    private func nextPoint(_ state: inout State, at time: MonotonicTime, orAt other: MonotonicTime?) -> MQTTTurn {
        func wait(until time: MonotonicTime?) -> MQTTTurn { .wait(until: [time, other].compactMap(\.self).min()) }
        let deletions = journal.deletions
        if state.deletions != deletions {
            state.deletions = deletions
            state.lane.deleted()
        }
        while true {
            switch state.lane.next(at: time) {
            case .send(let point): return .send(messages.point(point))
            case .wait(let time): return wait(until: time)
            case .gather(let time):
                news.withLock { $0.isAwaited = true }
                // The position goes with the points.
                return .wait(until: time)
            case .pace(let time):
                news.withLock { $0.isAwaited = true }
                return wait(until: time)
            case .read(let id, let limit):
                do {
                    state.lane.add(try journal.points(after: id, limit: limit), requested: limit, at: time)
                    state.fault = nil
                } catch {
                    state.fault = "\(error)"
                    return wait(until: time + Self.retry)
                }
            }
        }
    }

    private func hear(_ state: inout State) {
        news.withLock { news in
            if news.hasPoints { state.lane.stored() }
            if let position = news.position { (state.position, state.isPositionSent) = (position, false) }
            if let status = news.status { (state.status, state.isStatusSent) = (status, false) }
            news = News()
        }
    }

    func acknowledged(_ tags: [Int64], at time: MonotonicTime) {
        let now = Date()
        state.withLock { state in
            var points = 0
            for tag in tags {
                if tag > PublisherMessages.noTag {
                    state.lane.acknowledged(tag, at: time, now: now)
                    points += 1
                } else if let command = queue.acknowledged(tag) {
                    // If it cannot be stored, the reply comes again after the next start.
                    answer(command, state)
                }
            }
            guard points > 0, !state.isEnded else { return }
            if !journal.saveWithNextPoints(state.lane.progress, of: name) { state.unsaved = 0 }
            state.unsaved += points
            if state.unsaved >= Self.mostUnsaved { save(&state) }
        }
    }

    func closed(at time: MonotonicTime) {
        state.withLock { state in
            state.lane.closed()
            save(&state)
        }
    }

    /// The points that ``next(at:)`` returned since the last acknowledgement were not sent.
    func failed() {
        state.withLock { state in
            state.lane.failed()
            save(&state)
        }
    }

    func farewell(forgetting: Bool) -> [MQTTPublication] { messages.farewell(forgetting: forgetting) }

    private func answer(_ command: String, _ state: State) {
        if !state.isEnded { try? journal.answered(command) }
    }

    /// Saves the progress. If that fails, points are sent again after the next start, and the store reports the failure.
    private func save(_ state: inout State) {
        guard !state.isEnded, state.lane.progress != state.saved else { return }
        state.unsaved = 0
        if (try? journal.save(state.lane.progress, of: name)) != nil { state.saved = state.lane.progress }
    }
}
