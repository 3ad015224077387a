import BackgrounderAPI
import CMosquitto
import Glibc

/// Why there is no connection to a broker.
enum MQTTFailure: Error, Hashable, CustomStringConvertible {
    case unresolvable(host: String, reason: String)
    case unreachable(reason: String)
    /// No answer in time.
    case silent
    case closed
    /// Closed before it had let us in.
    case turnedAway
    /// Not ready, by its own word.
    case unavailable
    case refused(reason: String)
    case refusedTopic(String)
    case insecure(reason: String)
    case notMQTT
    case credentials(CredentialsError)
    /// The message was left to the broker.
    case notStored(reason: String)
    case library(reason: String)

    /// It will not go away by itself.
    var isRefusal: Bool {
        switch self {
        case .refused, .refusedTopic, .insecure, .notMQTT, .credentials, .turnedAway: true
        case .unresolvable, .unreachable, .silent, .closed, .unavailable, .notStored, .library: false
        }
    }

    /// Another address of the host may do.
    var isOfAddress: Bool {
        switch self {
        case .unreachable: true
        default: false
        }
    }

    var description: String {
        switch self {
        case .unresolvable(let host, let reason): "the host \(host) cannot be found: \(reason)"
        case .unreachable(let reason): "the broker cannot be reached: \(reason)"
        case .silent: "the broker does not answer"
        case .closed: "the broker closed the connection"
        case .turnedAway: "it closed the connection before it answered; does it want mqtts://, or mqtt://?"
        case .unavailable: "the broker says that it is not available"
        case .refused(let reason): reason
        case .refusedTopic(let topic): "the topic \(topic) may not be subscribed to"
        case .insecure(let reason): "no TLS: \(reason)"
        case .notMQTT: "what answers there does not speak MQTT 3.1.1"
        case .credentials(let error): error.description
        case .notStored(let reason): "a message cannot be stored, and was left to the broker: \(reason)"
        case .library(let reason): reason
        }
    }

    /// For a code of libmosquitto, right after the call that gave it, for whose `errno` it asks.
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

    /// For the code of a CONNACK (MQTT 3.1.1, 3.2.2.3); `nil` for the one that lets us in.
    init?(connack code: Int32) {
        switch code {
        case 0: return nil
        case 1: self = .refused(reason: "the broker does not speak MQTT 3.1.1")
        case 2: self = .refused(reason: "the broker does not take our client id")
        case 3: self = .unavailable
        case 4: self = .refused(reason: "the broker does not take this user and password")
        case 5: self = .refused(reason: "not authorised; the broker may want a user and password: --credentials FILE")
        default: self = .refused(reason: "the broker refuses the connection with code \(code)")
        }
    }
}
