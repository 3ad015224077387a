import BackgrounderAPI
import CLinux
import Dispatch
import Glibc
import Synchronization

/// A message of a broker.
struct MQTTMessage: Sendable {
    /// Absent when it is larger than is read.
    var payload: [UInt8]?
    var isRetained: Bool
}

/// A message that the broker must keep.
struct MQTTDeliveryFailure: Error, Sendable {
    var reason: String
}

/// How a session stands.
enum MQTTStanding: Hashable, Sendable {
    case connected
    case failed(MQTTFailure)
}

/// The line between a session's thread and its owner.
struct MQTTControl: Sendable {
    enum Wish: Sendable {
        case listen
        /// To end; the broker keeps what comes.
        case leave
        /// To end for good.
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

    func set(_ wish: Wish) {
        shared.wish.withLock { $0 = wish }
        wakeup.signal()
    }

    /// Returns when the message is stored. The session's thread, which waits.
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

/// Listens to a topic of a broker, on a thread of its own, until it is ended; connects again whenever the connection is lost.
final class MQTTSession: Sendable {
    private let control: MQTTControl

    /// Begins at once.
    ///
    /// - Parameters:
    ///   - take: stores a message; the broker hears of it only when that went well.
    ///   - report: called on the session's thread for each connection that is made, and each that fails.
    init(
        _ push: StoredPush,
        take: @escaping @Sendable (MQTTMessage) async -> MQTTDeliveryFailure?,
        report: @escaping @Sendable (MQTTStanding) -> Void
    ) throws(SystemRefusal) {
        let control = try MQTTControl(take: take, report: report)
        self.control = control
        try detachThread(named: "push") { Self.run(push, control) }
    }

    /// Lets the thread end; nobody waits for it, since it may be looking for a host.
    ///
    /// - Parameter forgetting: the broker is to keep nothing for us any more.
    func end(forgetting: Bool = false) {
        control.set(forgetting ? .forget : .leave)
    }

    private static func run(_ push: StoredPush, _ control: MQTTControl) {
        var retry = RetryDelay()
        var localAddress: String?
        while control.wish == .listen {
            let began = SuspendingClock.now
            var failure = attempt(push, from: localAddress, control)
            // libmosquitto tries only the first address of a host that has some of both kinds.
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

    /// One connection; why it ended, or `nil` when it was to end.
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

/// When to connect again: 1 s later, then twice that, and so on to 30 s; earlier by chance, never later, so that many boxes do
/// not come back to a broker at one time.
struct RetryDelay {
    private var next = PushJudgement.firstRetry

    /// - Parameter lasted: how long the connection did, with the time to make it.
    mutating func next(after lasted: Duration, isRefusal: Bool) -> Duration {
        if lasted >= .seconds(PushJudgement.steady) { next = PushJudgement.firstRetry }
        if isRefusal { next = PushJudgement.longestRetry }
        defer { next = min(next * 2, PushJudgement.longestRetry) }
        return .seconds(next * Double.random(in: 0.75...1))
    }
}
