package import SystemSupport

/// A message to a broker.
package struct MQTTPublication: Sendable, Hashable {
    package var topic: String
    package var payload: [UInt8]
    package var isRetained: Bool
    /// Identifies a message of QoS 1 when it is acknowledged; `nil` for QoS 0, which is sent once.
    package var tag: Int64?

    /// Creates a message.
    package init(topic: String, payload: [UInt8], isRetained: Bool = false, tag: Int64? = nil) {
        (self.topic, self.payload, self.isRetained, self.tag) = (topic, payload, isRetained, tag)
    }
}

/// The messages that a session publishes. The session calls all methods on its thread, which they may block.
package protocol MQTTOutbox: AnyObject, Sendable {
    /// The broker accepted the client. Messages that were not acknowledged before must be sent again.
    func opened(at time: MonotonicTime)

    /// Returns the message to send next, or when to ask again if the session is not woken before.
    func next(at time: MonotonicTime) -> MQTTTurn

    /// The broker acknowledged the messages with these tags.
    func acknowledged(_ tags: [Int64], at time: MonotonicTime)

    /// The connection is over.
    func closed(at time: MonotonicTime)

    /// Returns the last messages of a session that ends on request.
    ///
    /// - Parameter forgetting: whether the session will not return.
    func farewell(forgetting: Bool) -> [MQTTPublication]
}

/// The next step of an outbox.
package enum MQTTTurn: Sendable, Hashable {
    case send(MQTTPublication)
    /// Nothing before this time; `nil` if it has no plan.
    case wait(until: MonotonicTime?)
}
