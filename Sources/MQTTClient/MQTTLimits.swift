/// The limits and times of a connection to a broker. Tuned: MQTT prescribes none of them.
package enum MQTTLimits {
    /// Bytes of a message; the same limit as in APNs.
    package static let payloadLimit = 4096
    /// Seconds without traffic after which the client sends a PINGREQ.
    static let keepalive = 60
    /// Seconds that the broker has to answer it.
    static let signOfLife = 20.0
    /// Seconds to connect, and then for each answer of the broker.
    static let answerDelay = 10.0
    /// Seconds for which acknowledgements of few messages are not read, unless the thread is awake anyway.
    static let patience = 2.0
    /// The number of messages that are few.
    static let fewMessages = 3
    /// The acknowledgements that may arrive without waking the thread while there are more. They are smaller than a message.
    static let quietAcknowledgements = 10
    /// Bytes of a PUBACK.
    static let acknowledgementSize = 4
    /// The same with TLS: with the header and the tag of a record (RFC 5246, 6.2.3.3 and RFC 5288).
    static let secureAcknowledgementSize = 33
    /// Published messages that may be unacknowledged at a time. The default of libmosquitto is 20.
    static let inFlight: UInt32 = 100
    /// Seconds that the broker has to acknowledge the last messages of a session.
    static let farewell = 0.5
    /// Bytes that a broker may leave unread while messages are acknowledged: more than the acknowledgements of all identifiers.
    static let waitingBytes = 1 << 20
    /// Seconds for which messages are read before the thread looks for anything else to do.
    static let reading = 0.1
    /// Bytes of the largest packet that is read without TLS. Valid push messages are smaller.
    static let packetLimit = 16 << 10
    /// Bytes of the system's receive buffer, which Linux doubles. Its default limit, `net.core.rmem_max`, is the same.
    static let receiveBuffer: Int32 = 212_992
    /// The same for batches. If messages overflow the buffer, Linux drops some of them, and the broker sends them again after 200 ms.
    static let largeReceiveBuffer: Int32 = 2 << 20
    /// Seconds that a connection must last for the delays of attempts to begin again.
    static let steady = 30.0
    /// Seconds until an attempt for which a change of the default routes is awaited. An earlier one would hardly come sooner.
    static let watchedRest = 1.0
}
