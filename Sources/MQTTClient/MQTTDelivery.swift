import Dispatch
import Synchronization

/// Stores messages together. They are acknowledged only if it returns `nil`.
///
/// It is called for the next messages before those before are stored, so that it can prepare them.
///
/// - Parameter before: waits until all messages before are stored. After a failure, these must not be stored; return it.
package typealias MQTTStore =
    @Sendable (
        _ messages: [MQTTMessage], _ before: @Sendable () async -> MQTTDeliveryFailure?
    ) async -> MQTTDeliveryFailure?

/// The messages of a connection on their way to where they are stored, one portion after the other. For the connection's thread.
struct MQTTDelivery {
    private final class Portion: Sendable {
        let count: Int
        /// The packet identifiers for the acknowledgements.
        let ids: [UInt16]
        let failure = Mutex<MQTTDeliveryFailure?>(nil)

        init(count: Int, ids: [UInt16]) { (self.count, self.ids) = (count, ids) }
    }

    private let store: MQTTStore
    private let onStored: @Sendable () -> Void
    /// Oldest first.
    private var portions: [Portion] = []
    /// The task of the newest portion, which waits for those before.
    private var last: Task<MQTTDeliveryFailure?, Never>?
    /// Signalled once for each portion, in their order.
    private let stored = DispatchSemaphore(value: 0)
    /// The messages that are not acknowledged yet.
    private(set) var count = 0

    /// - Parameter onStored: called after each portion, also after one that cannot be stored. Any thread.
    init(_ store: @escaping MQTTStore, onStored: @escaping @Sendable () -> Void) {
        (self.store, self.onStored) = (store, onStored)
    }

    /// Begins to store messages, unless those before fail.
    mutating func add(_ messages: [MQTTMessage], ids: [UInt16]) {
        guard !messages.isEmpty else { return }
        let portion = Portion(count: messages.count, ids: ids)
        portions.append(portion)
        count += messages.count
        last = Task { [store, stored, onStored, last] in
            let own = await store(messages) { await last?.value ?? nil }
            let failure = await last?.value ?? own
            portion.failure.withLock { $0 = failure }
            stored.signal()
            onStored()
            return failure
        }
    }

    /// Returns the packet identifiers of the oldest portion, to be acknowledged; `nil` if there is none.
    ///
    /// - Parameter isPatient: true to block the thread until the portion is stored; otherwise, the result is `nil` until then.
    /// - Throws: ``MQTTDeliveryFailure`` if it cannot be stored.
    mutating func next(isPatient: Bool) throws(MQTTDeliveryFailure) -> [UInt16]? {
        guard let portion = portions.first else { return nil }
        guard stored.wait(timeout: isPatient ? .distantFuture : .now()) == .success else { return nil }
        portions.removeFirst()
        count -= portion.count
        if portions.isEmpty { last = nil }
        if let failure = portion.failure.withLock(\.self) { throw failure }
        return portion.ids
    }

    /// Blocks the thread until nothing is being stored.
    mutating func finish() { while !portions.isEmpty { _ = try? next(isPatient: true) } }
}
