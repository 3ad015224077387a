import CMosquitto
import COpenSSL

/// The callbacks, which libmosquitto calls on the connection's thread from within its functions.
extension MQTTConnection {
    func setCallbacks() {
        mosquitto_connect_callback_set(mosquitto) { _, object, code in
            MQTTConnection.of(object)?.connectCode = code
        }
        mosquitto_subscribe_callback_set(mosquitto) { _, object, _, count, granted in
            guard let connection = MQTTConnection.of(object), connection.phase == .subscribing else { return }
            // A broker may send a SUBACK without a return code.
            connection.grantedQoS.append(count > 0 ? granted?.pointee ?? 0x80 : 0x80)
        }
        mosquitto_unsubscribe_callback_set(mosquitto) { _, object, _ in
            MQTTConnection.of(object)?.unsubscribed += 1
        }
        mosquitto_publish_callback_set(mosquitto) { _, object, id in
            MQTTConnection.of(object)?.confirmed(CollectionOfOne(UInt16(truncatingIfNeeded: id)))
        }
        mosquitto_message_callback_set(mosquitto) { _, object, message in
            guard let connection = MQTTConnection.of(object), let message = message?.pointee else { return }
            let count = Int(message.payloadlen)
            let isLarge = count > MQTTLimits.payloadLimit
            let bytes = isLarge ? nil : [UInt8](UnsafeRawBufferPointer(start: message.payload, count: max(0, count)))
            let topic = message.topic.map { String(cString: $0) } ?? ""
            connection.arrived.append(MQTTMessage(topic: topic, payload: bytes, isRetained: message.retain))
        }
        mosquitto_log_callback_set(mosquitto) { _, object, level, text in
            // OpenSSL's error reasons appear only in the log.
            guard level == 0x08, let text else { return }  // MOSQ_LOG_ERR
            MQTTConnection.of(object)?.noteTLS(String(cString: text))
        }
    }

    /// Stores the last part of a line such as `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify
    /// failed`, and what is wrong with the broker's certificate.
    private func noteTLS(_ text: String) {
        if tlsReason == nil, text.contains("host name verification failed") {
            tlsReason = "the broker's certificate is for another host name"
        }
        guard tlsReason == nil, text.contains("OpenSSL"), let last = text.split(separator: ":").last else { return }
        let reason = String(last.drop { $0 == " " })
        let result = mosquitto_ssl_get(mosquitto).map { SSL_get_verify_result(OpaquePointer($0)) } ?? Int(X509_V_OK)
        let fault = result == Int(X509_V_OK) ? "" : ": \(String(cString: X509_verify_cert_error_string(result)))"
        tlsReason = reason + fault
    }

    private static func of(_ object: UnsafeMutableRawPointer?) -> MQTTConnection? {
        object.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
