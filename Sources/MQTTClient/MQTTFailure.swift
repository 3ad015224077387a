import CMosquitto
import Glibc
import SystemSupport
package import WebSupport

/// Why a connection to a broker failed or ended.
package enum MQTTFailure: Error, Hashable, CustomStringConvertible {
    case unresolvable(host: String, reason: String)
    case unreachable(reason: String)
    /// The broker did not answer in time.
    case silent
    case closed
    /// The broker closed the connection before it accepted the client.
    case turnedAway
    /// The broker reported that it is unavailable.
    case unavailable
    case refused(reason: String)
    case refusedTopic(String)
    case insecure(reason: String)
    case notMQTT
    case credentials(CredentialsError)
    /// A message could not be stored and was not acknowledged.
    case notStored(reason: String)
    case library(reason: String)

    /// Whether the failure is unlikely to go away without a change of configuration.
    package var isRefusal: Bool {
        switch self {
        case .refused, .refusedTopic, .insecure, .notMQTT, .credentials, .turnedAway: true
        case .unresolvable, .unreachable, .silent, .closed, .unavailable, .notStored, .library: false
        }
    }

    /// The cause that selects the next delay.
    var cause: ReconnectDelay.Cause {
        switch self {
        case .unreachable, .unresolvable: .unreachable
        case .turnedAway: .failed
        default: isRefusal ? .refused : .failed
        }
    }

    /// Whether another address of the host may work.
    var isOfAddress: Bool {
        switch self {
        case .unreachable: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .unresolvable(let host, let reason): "cannot resolve the host \(host): \(reason)"
        case .unreachable(let reason): "cannot reach the broker: \(reason)"
        case .silent: "the broker does not answer"
        case .closed: "the broker closed the connection"
        case .turnedAway:
            "the broker closed the connection before it answered; check whether it expects mqtts:// or mqtt://, or a certificate"
        case .unavailable: "the broker reports that it is unavailable"
        case .refused(let reason): reason
        case .refusedTopic(let topic): "the broker refused the subscription to \(topic)"
        case .insecure(let reason): "cannot establish TLS: \(reason)"
        case .notMQTT: "the server does not speak MQTT 3.1.1"
        case .credentials(let error): error.description
        case .notStored(let reason): "cannot save a message: \(reason); the broker keeps it"
        case .library(let reason): reason
        }
    }

    /// Creates the failure for an error code of libmosquitto. Call it immediately after the call that failed, because
    /// it reads `errno`.
    init(_ code: Int32, host: String, tlsReason: String?) {
        let number = errno
        switch code {
        case MOSQ_ERR_EAI.rawValue: self = .unresolvable(host: host, reason: String(cString: gai_strerror(number)))
        case MOSQ_ERR_ERRNO.rawValue: self = .unreachable(reason: systemMessage(number))
        case MOSQ_ERR_TLS.rawValue, MOSQ_ERR_TLS_HANDSHAKE.rawValue:
            self = .insecure(reason: tlsReason ?? "the handshake failed")
        case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_NO_CONN.rawValue: self = .closed
        case MOSQ_ERR_KEEPALIVE.rawValue: self = .silent
        case MOSQ_ERR_PROTOCOL.rawValue, MOSQ_ERR_MALFORMED_UTF8.rawValue, MOSQ_ERR_MALFORMED_PACKET.rawValue:
            self = .notMQTT
        default: self = .library(reason: String(cString: mosquitto_strerror(code)))
        }
    }

    /// Creates the failure for the return code of a CONNACK (MQTT 3.1.1, 3.2.2.3); `nil` if the connection is accepted.
    init?(connack code: Int32) {
        switch code {
        case 0: return nil
        case 1: self = .refused(reason: "the broker does not speak MQTT 3.1.1")
        case 2: self = .refused(reason: "the broker rejects the client id")
        case 3: self = .unavailable
        case 4: self = .refused(reason: "the broker rejects this user and password")
        case 5: self = .refused(reason: "not authorised; check the user and password (--credentials FILE)")
        default: self = .refused(reason: "the broker rejects the connection with code \(code)")
        }
    }
}
