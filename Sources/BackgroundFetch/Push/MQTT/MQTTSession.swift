import BackgrounderAPI
import CLinux
import Dispatch
import Glibc
import Synchronization

/// A message from a broker.
struct MQTTMessage: Sendable {
    /// `nil` if the message is too large to be read.
    var payload: [UInt8]?
    var isRetained: Bool
}

/// The error for a message that could not be stored, so that the broker must keep it.
struct MQTTDeliveryFailure: Error, Sendable {
    var reason: String
}

/// A report of a session about its connection.
enum MQTTStanding: Hashable, Sendable {
    case connected
    case failed(MQTTFailure)
}

/// The communication between a session's thread and its owner.
struct MQTTControl: Sendable {
    /// A state that the owner wants the session to reach.
    enum Wish: Sendable {
        case listen
        /// End the connection; the broker keeps the subscription and queues messages.
        case leave
        /// End the subscription, then the connection.
        case forget
    }

    private final class Shared: Sendable {
        let wish = Mutex(Wish.listen)
    }

    private let shared = Shared()
    let wakeup: WakeDescriptor
    private let take: @Sendable (MQTTMessage) async -> MQTTDeliveryFailure?
    let report: @Sendable (MQTTStanding) -> Void

    init(
        take: @escaping @Sendable (MQTTMessage) async -> MQTTDeliveryFailure?,
        report: @escaping @Sendable (MQTTStanding) -> Void
    ) throws(SystemRefusal) {
        (self.take, self.report) = (take, report)
        wakeup = try WakeDescriptor()
    }

    var wish: Wish { shared.wish.withLock { $0 } }

    /// Sets the wish and wakes the session's thread.
    func set(_ wish: Wish) {
        shared.wish.withLock { $0 = wish }
        wakeup.signal()
    }

    /// Blocks the session's thread until the message is stored.
    ///
    /// - Throws: ``MQTTDeliveryFailure`` if it cannot be stored.
    func deliver(_ message: MQTTMessage) throws(MQTTDeliveryFailure) {
        final class Answer: Sendable {
            let failure = Mutex<MQTTDeliveryFailure?>(nil)
            let isThere = DispatchSemaphore(value: 0)
        }
        let answer = Answer()
        Task { [take] in
            let failure = await take(message)
            answer.failure.withLock { $0 = failure }
            answer.isThere.signal()
        }
        answer.isThere.wait()
        if let failure = answer.failure.withLock({ $0 }) { throw failure }
    }
}

/// A subscription to a topic of a broker, on a thread of its own. It reconnects whenever the connection is lost, until
/// it is ended.
final class MQTTSession: Sendable {
    private let control: MQTTControl

    /// Starts the thread, which connects immediately.
    ///
    /// - Parameters:
    ///   - take: stores a message, which is acknowledged only if this returns `nil`.
    ///   - report: called on the session's thread after each successful and each failed connection.
    /// - Throws: ``SystemRefusal`` if there are no more threads or descriptors.
    init(
        _ push: StoredPush,
        take: @escaping @Sendable (MQTTMessage) async -> MQTTDeliveryFailure?,
        report: @escaping @Sendable (MQTTStanding) -> Void
    ) throws(SystemRefusal) {
        let control = try MQTTControl(take: take, report: report)
        self.control = control
        try detachThread(named: "push") { Self.run(push, control) }
    }

    /// Asks the thread to end, and returns without waiting for it, because it may be resolving a host.
    ///
    /// - Parameter forgetting: true to end the subscription too, so that the broker queues no more messages.
    func end(forgetting: Bool = false) {
        control.set(forgetting ? .forget : .leave)
    }

    private static func run(_ push: StoredPush, _ control: MQTTControl) {
        var retry = RetryDelay()
        var localAddress: String?
        while control.wish == .listen {
            let began = SuspendingClock.now
            var failure = attempt(push, from: localAddress, control)
            // libmosquitto tries only the first address of a host. If that fails, try the other IP version.
            if let first = failure, first.isOfAddress, control.wish == .listen {
                localAddress = localAddress == nil ? "0.0.0.0" : nil
                failure = attempt(push, from: localAddress, control).map { $0.isOfAddress ? first : $0 }
            }
            guard let failure, control.wish == .listen else { return }
            control.report(.failed(failure))
            let end = SuspendingClock.now
            let delay = retry.next(after: end - began, isRefusal: failure.isRefusal && failure != .turnedAway)
            while control.wish == .listen, SuspendingClock.now < end + delay {
                _ = control.wakeup.wait(until: end + delay)
            }
        }
    }

    /// Makes one connection. Returns why it was lost, or `nil` if it ended on request.
    private static func attempt(_ push: StoredPush, from localAddress: String?, _ control: MQTTControl) -> MQTTFailure?
    {
        do throws(MQTTFailure) {
            try MQTTConnection(push, from: localAddress, control: control).run()
            return nil
        } catch {
            return error
        }
    }
}

/// The delay before a reconnection: 1 s, doubled after each attempt up to 30 s.
///
/// Each delay is shortened at random by up to a quarter, so that many clients do not return to a broker at the same
/// time.
struct RetryDelay {
    private var next = PushJudgement.firstRetry

    /// Returns the next delay.
    ///
    /// - Parameters:
    ///   - lasted: how long the last connection lasted, including the time to establish it.
    ///   - isRefusal: whether the broker refused the client, which selects the longest delay.
    mutating func next(after lasted: Duration, isRefusal: Bool) -> Duration {
        if lasted >= .seconds(PushJudgement.steady) { next = PushJudgement.firstRetry }
        if isRefusal { next = PushJudgement.longestRetry }
        defer { next = min(next * 2, PushJudgement.longestRetry) }
        return .seconds(next * Double.random(in: 0.75...1))
    }
}
