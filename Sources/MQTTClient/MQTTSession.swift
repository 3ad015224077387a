import Dispatch
import Glibc
import Synchronization
package import SystemSupport

/// A report of a session about its connection.
package enum MQTTReport: Hashable, Sendable {
    /// - Parameter refused: a topic that the broker refused to a session that publishes.
    case connected(refused: String?)
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
    let store: MQTTStore
    let report: @Sendable (MQTTReport) -> Void

    init(
        store: @escaping MQTTStore,
        report: @escaping @Sendable (MQTTReport) -> Void
    ) throws(SystemRefusal) {
        (self.store, self.report) = (store, report)
        wakeup = try WakeDescriptor()
    }

    var wish: Wish { shared.wish.withLock { $0 } }

    /// Sets the wish and wakes the session's thread.
    func set(_ wish: Wish) {
        shared.wish.withLock { $0 = wish }
        wakeup.signal()
    }

    /// Blocks the session's thread until `end`, a wish, or, unless `end` is near, a change of the default routes, after which a retry
    /// may succeed immediately. Returns whether they have changed.
    ///
    /// - Parameter routes: the routes from which a change is awaited, `nil` for those of now; then those that were read last.
    func rest(until end: MonotonicTime, orChangeOf routes: inout DefaultRoutes?) -> Bool {
        let isNear = MonotonicTime.now.duration(to: end) < .seconds(MQTTLimits.watchedRest)
        let watch = isNear ? nil : RouteWait(since: routes)
        defer { routes = watch?.routes ?? routes }
        while wish == .listen, MonotonicTime.now < end {
            if let watch, watch.haveChanged { return true }
            if wakeup.wait(for: watch?.descriptor, until: end).events != 0 { watch?.read() }
        }
        return false
    }
}

/// A session with a broker, on a thread of its own. It reconnects whenever the connection is lost, until it is ended.
package final class MQTTSession: Sendable {
    private let control: MQTTControl
    /// Signalled when the thread ends.
    private let over = DispatchSemaphore(value: 0)

    /// Starts the thread, which connects immediately.
    ///
    /// - Parameters:
    ///   - thread: the name of the thread, at most 15 bytes.
    ///   - store: stores a message, which is acknowledged only if this returns `nil`.
    ///   - report: called on the session's thread after each successful and each failed connection.
    /// - Throws: ``SystemRefusal`` if there are no more threads or descriptors.
    package convenience init(
        _ options: MQTTOptions,
        thread: String,
        outbox: (any MQTTOutbox)? = nil,
        store: @escaping @Sendable (MQTTMessage) async -> MQTTDeliveryFailure?,
        report: @escaping @Sendable (MQTTReport) -> Void
    ) throws(SystemRefusal) {
        try self.init(
            options,
            thread: thread,
            outbox: outbox,
            storeAll: { messages, before in
                if let failure = await before() { return failure }
                for message in messages {
                    if let failure = await store(message) { return failure }
                }
                return nil
            },
            report: report
        )
    }

    /// Starts a session whose messages are stored in batches.
    package init(
        _ options: MQTTOptions,
        thread: String,
        outbox: (any MQTTOutbox)? = nil,
        storeAll: @escaping MQTTStore,
        report: @escaping @Sendable (MQTTReport) -> Void
    ) throws(SystemRefusal) {
        let control = try MQTTControl(store: storeAll, report: report)
        self.control = control
        try detachThread(named: thread) { [over] in
            Self.run(options, outbox, control)
            over.signal()
        }
    }

    /// Asks the thread to end, and returns without waiting for it, because it may be resolving a host.
    ///
    /// - Parameter forgetting: true to end the subscriptions too, so that the broker queues no more messages.
    package func end(forgetting: Bool = false) {
        control.set(forgetting ? .forget : .leave)
    }

    /// Blocks the calling thread until the session's thread has ended after ``end(forgetting:)``, but no longer than until `time`.
    package func waitForEnd(until time: MonotonicTime) {
        if over.wait(timeout: .now() + max(0, MonotonicTime.now.duration(to: time).seconds)) == .success {
            over.signal()
        }
    }

    /// Makes the thread ask its outbox for messages. Any thread.
    package func wake() { control.wakeup.signal() }

    private static func run(_ options: MQTTOptions, _ outbox: (any MQTTOutbox)?, _ control: MQTTControl) {
        var retry = ReconnectDelay()
        var localAddress: String?
        var routes: DefaultRoutes?
        while control.wish == .listen {
            let began = MonotonicTime.now
            var failure = attempt(options, outbox, from: localAddress, control)
            // libmosquitto tries only the first address of a host. If that fails, try the other IP version.
            if let first = failure, first.isOfAddress, control.wish == .listen {
                localAddress = localAddress == nil ? "0.0.0.0" : nil
                failure = attempt(options, outbox, from: localAddress, control).map { $0.isOfAddress ? first : $0 }
            }
            guard let failure, control.wish == .listen else { return }
            control.report(.failed(failure))
            let end = MonotonicTime.now
            let wasLong = began.duration(to: end) >= .seconds(MQTTLimits.steady)
            if wasLong {
                retry.reset()
                // A change that a long connection has outlived does not matter.
                routes = nil
            }
            let delay = retry.next(after: failure.cause, at: end)
            if control.rest(until: end + delay, orChangeOf: &routes) { retry.reset() }
        }
    }

    /// Makes one connection. Returns why it was lost, or `nil` if it ended on request.
    private static func attempt(
        _ options: MQTTOptions,
        _ outbox: (any MQTTOutbox)?,
        from localAddress: String?,
        _ control: MQTTControl
    ) -> MQTTFailure? {
        defer { outbox?.closed(at: .now) }
        do throws(MQTTFailure) {
            try MQTTConnection(options, outbox: outbox, from: localAddress, control: control).run()
            return nil
        } catch {
            return error
        }
    }
}
