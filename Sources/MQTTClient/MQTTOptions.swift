package import BackgrounderAPI

/// The broker of a session, and how to connect to it.
package struct MQTTOptions: Sendable {
    package var address: BrokerAddress
    /// The absolute path of the credentials file.
    package var credentials: String?
    /// The client's certificate for TLS.
    package var certificate: ClientCertificate?
    package var clientID: String
    /// The topics to subscribe to, with QoS 1.
    package var topics: [TopicFilter]
    /// Whether the broker keeps the session and its messages between connections.
    package var isDurable: Bool
    /// Whether acknowledgements of a few messages may be read later, which saves wakeups.
    package var isPatient: Bool
    /// About how many messages are read before the first ones are stored.
    package var batch: Int
    /// About how many are stored together if that many have arrived.
    var portion: Int { (batch + 3) / 4 }
    /// Bytes of the system's receive buffer without TLS.
    var receiveBuffer: Int32 { batch > 1 ? MQTTLimits.largeReceiveBuffer : MQTTLimits.receiveBuffer }
    /// The message that the broker publishes when the connection is lost.
    package var will: MQTTPublication?

    /// Creates options.
    package init(
        address: BrokerAddress,
        credentials: String? = nil,
        certificate: ClientCertificate? = nil,
        clientID: String,
        topics: [TopicFilter] = [],
        isDurable: Bool = true,
        isPatient: Bool = true,
        batch: Int = 1,
        will: MQTTPublication? = nil
    ) {
        (self.address, self.credentials, self.certificate) = (address, credentials, certificate)
        (self.clientID, self.topics, self.isDurable) = (clientID, topics, isDurable)
        (self.isPatient, self.batch, self.will) = (isPatient, batch, will)
    }
}

/// A message from a broker.
package struct MQTTMessage: Sendable {
    /// Empty if the packet is too large to be read.
    package var topic: String
    /// `nil` if the message is too large to be read.
    package var payload: [UInt8]?
    package var isRetained: Bool

    /// Creates a message.
    package init(topic: String = "", payload: [UInt8]?, isRetained: Bool) {
        (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
    }
}

/// The error for a message that could not be stored, so that the broker must keep it.
package struct MQTTDeliveryFailure: Error, Sendable {
    package var reason: String

    /// Creates the error.
    package init(reason: String) { self.reason = reason }
}
