import BackgrounderAPI
import CMosquitto
import Glibc

/// The owner of one `struct mosquitto`: one connection to a broker, from its opening to its end.
///
/// For one thread, which it may block. libmosquitto's own thread would wake up each second.
///
/// libmosquitto puts the acknowledgement of a message (PUBACK) into its queue before it tells of the message. Told that others
/// may write too (`mosquitto_threaded_set`) it leaves the queue to us, and nothing is written before the message is stored.
final class MQTTConnection {
    private enum Phase {
        /// The kernel connects.
        case connecting
        /// Until the broker has let us in.
        case greeting
        /// Until it has taken the subscription.
        case subscribing
        case listening
        /// Until it has taken the end of the subscription.
        case unsubscribing
    }

    private let push: StoredPush
    private let control: MQTTControl
    private let mosquitto: OpaquePointer
    private var phase = Phase.connecting
    private var packets: PacketGuard?
    private var deadline: SuspendingClock.Instant
    private var lastSent = SuspendingClock.now
    private var isSignAwaited = false
    /// Acknowledgements for messages that libmosquitto never saw.
    private var acknowledgements: [UInt16] = []

    // What callbacks say, for whoever made the call in which they came.
    private var connectCode: Int32?
    private var grantedQoS: Int32?
    private var isUnsubscribed = false
    private var tlsReason: String?
    private var storeFailure: MQTTFailure?

    /// Resolves the host, which may take long, and begins to connect.
    ///
    /// - Parameter localAddress: the address to connect from: `0.0.0.0` for IPv4 alone.
    init(_ push: StoredPush, from localAddress: String?, control: MQTTControl) throws(MQTTFailure) {
        _ = Self.library
        guard let mosquitto = mosquitto_new(push.clientID, false, nil) else {
            throw .library(reason: systemMessage(errno))
        }
        (self.push, self.control, self.mosquitto) = (push, control, mosquitto)
        deadline = .now + .seconds(PushJudgement.answerDelay)
        mosquitto_user_data_set(mosquitto, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_threaded_set(mosquitto, true)
        try check(mosquitto_int_option(mosquitto, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311))
        _ = mosquitto_int_option(mosquitto, MOSQ_OPT_TCP_NODELAY, 1)
        setCallbacks()
        if let path = push.credentials {
            let credentials: BrokerCredentials
            do { credentials = try BrokerCredentials(path: path) } catch { throw .credentials(error) }
            try check(mosquitto_username_pw_set(mosquitto, credentials.user, credentials.password))
        }
        if push.address.isSecure { try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TLS_USE_OS_CERTS, 1)) }
        try check(
            mosquitto_connect_bind_async(
                mosquitto,
                push.address.host,
                Int32(push.address.port),
                Int32(PushJudgement.keepalive),
                localAddress
            )
        )
        // libmosquitto's sockets would go to every program that is started.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    deinit { mosquitto_destroy(mosquitto) }

    /// Takes messages until there is no connection any more, or until `control` says that it is enough.
    func run() throws(MQTTFailure) {
        while true {
            switch control.wish {
            case .listen: break
            case .leave: return leave()
            case .forget where phase == .listening:
                mosquitto_unsubscribe(mosquitto, nil, push.topic.description)
                phase = .unsubscribing
                deadline = .now + .seconds(1)  // judgement: politeness, and the service may be about to end
                try write()
            case .forget where phase == .unsubscribing && !isUnsubscribed: break
            case .forget: return leave()
            }
            let events = control.wakeup.wait(for: socket, events: awaitedEvents, until: deadline)
            if events != 0 { try take(events) }
            if SuspendingClock.now >= deadline { try time() }
            try write()
        }
    }

    private var socket: Int32 { mosquitto_socket(mosquitto) }

    private var hasEnded: Bool { socket < 0 }

    /// What poll(2) has beside POSIX (poll(2)): the other side sends no more.
    private static let hangUp: Int16 = 0x2000

    private var awaitedEvents: Int16 {
        switch phase {
        case .connecting: return Int16(POLLOUT)
        // With TLS libmosquitto wants to write during the whole handshake, which waits for the broker.
        case .greeting where push.address.isSecure: return Int16(POLLIN) | Self.hangUp
        default:
            let wantsToWrite = mosquitto_want_write(mosquitto) || !acknowledgements.isEmpty
            return Int16(POLLIN) | Self.hangUp | (wantsToWrite ? Int16(POLLOUT) : 0)
        }
    }

    private func take(_ events: Int16) throws(MQTTFailure) {
        if phase == .connecting {
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout.size(ofValue: code))
            getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
            guard code == 0 else { throw .unreachable(reason: systemMessage(code)) }
            phase = .greeting
            deadline = .now + .seconds(PushJudgement.answerDelay)
            if push.address.isSecure { try readSecure() } else { packets = PacketGuard(descriptor: socket) }
            return
        }
        let isOver = events & (Self.hangUp | Int16(POLLHUP) | Int16(POLLERR)) != 0
        if packets != nil {
            try readPlain(isOver: isOver)
        } else {
            try readSecure()
            if events & Int16(POLLIN) != 0 { heardSign() }
            // A handshake that broke off is not told of: one more look for each step that may still be there.
            if isOver, phase == .greeting {
                for _ in 0..<8 where phase == .greeting { try readSecure() }
                if phase == .greeting {
                    throw .insecure(reason: "the broker closed the connection; does it want mqtt://?")
                }
            }
        }
    }

    /// The broker has said something whole, or, protected, something.
    private func heardSign() {
        guard isSignAwaited, phase == .listening else { return }
        isSignAwaited = false
        deadline = lastSent + .seconds(PushJudgement.keepalive)
    }

    private func readPlain(isOver: Bool) throws(MQTTFailure) {
        while let finding = try packets?.look() {
            switch finding {
            case .packet: try received(mosquitto_loop_read(mosquitto, 1))
            case .oversize(let message):
                deliver(MQTTMessage(payload: nil, isRetained: message.isRetained))
                if let storeFailure { throw storeFailure }
                if let id = message.id { acknowledgements.append(id) }
            case .incomplete:
                if isOver { throw phase == .greeting ? .turnedAway : .closed }
                return
            case .end: throw phase == .greeting ? .turnedAway : .closed
            }
            heardSign()
            try write()
        }
    }

    private func readSecure() throws(MQTTFailure) {
        try received(mosquitto_loop_read(mosquitto, 1))
        try write()
    }

    /// Looks at what the callbacks said during a call that gave `code`.
    private func received(_ code: Int32) throws(MQTTFailure) {
        if let connectCode, let refusal = MQTTFailure(connack: connectCode) { throw refusal }
        if let storeFailure { throw storeFailure }
        try check(code)
        guard !hasEnded else { throw .closed }
        if phase == .greeting, connectCode == 0 {
            phase = .subscribing
            deadline = .now + .seconds(PushJudgement.answerDelay)
            // Each time, since a session that the broker knows may have ended before it knew the subscription.
            try check(mosquitto_subscribe(mosquitto, nil, push.topic.description, 1))
        }
        if phase == .subscribing, let grantedQoS {
            // 0x80 is the only other value (MQTT 3.1.1, 3.9.3).
            guard grantedQoS <= 2 else { throw .refusedTopic(push.topic.description) }
            phase = .listening
            deadline = lastSent + .seconds(PushJudgement.keepalive)
            control.report(.connected)
        }
    }

    /// Writes what can be written now.
    private func write() throws(MQTTFailure) {
        guard phase != .connecting else { return }
        if mosquitto_want_write(mosquitto) {
            try check(mosquitto_loop_write(mosquitto, 1))
            guard !hasEnded else { throw .closed }
            lastSent = .now
            if phase == .listening, !isSignAwaited { deadline = lastSent + .seconds(PushJudgement.keepalive) }
        }
        // Between two packets of libmosquitto, never inside one.
        while let id = acknowledgements.first, !mosquitto_want_write(mosquitto) {
            let packet: [UInt8] = [0x40, 2, UInt8(id >> 8), UInt8(id & 0xFF)]
            let count = send(socket, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count == packet.count else { throw .closed }
            acknowledgements.removeFirst()
        }
    }

    /// The deadline has passed.
    private func time() throws(MQTTFailure) {
        switch phase {
        case .connecting: throw .unreachable(reason: systemMessage(ETIMEDOUT))
        case .greeting, .subscribing: throw .silent
        case .listening where isSignAwaited: throw .silent
        case .listening:
            try check(mosquitto_loop_misc(mosquitto))
            guard mosquitto_want_write(mosquitto) else {
                deadline = .now + .seconds(1)
                return
            }
            isSignAwaited = true
            deadline = .now + .seconds(PushJudgement.signOfLife)
        case .unsubscribing: isUnsubscribed = true
        }
    }

    /// Says goodbye, as far as that goes without waiting.
    private func leave() {
        guard phase != .connecting, !hasEnded, storeFailure == nil else { return }
        mosquitto_disconnect(mosquitto)
        mosquitto_loop_write(mosquitto, 1)
    }

    private func check(_ code: Int32) throws(MQTTFailure) {
        guard code != MOSQ_ERR_SUCCESS.rawValue, code != MOSQ_ERR_CONN_PENDING.rawValue else { return }
        let failure = MQTTFailure(code, host: push.address.host, tlsReason: tlsReason)
        throw failure == .closed && phase == .greeting ? .turnedAway : failure
    }

    private func deliver(_ message: MQTTMessage) {
        guard storeFailure == nil else { return }
        do throws(MQTTDeliveryFailure) {
            try control.deliver(message)
        } catch {
            storeFailure = .notStored(reason: error.reason)
        }
    }

    // MARK: Callbacks, on this thread, inside of calls of ours

    private func setCallbacks() {
        mosquitto_connect_callback_set(mosquitto) { _, object, code in
            MQTTConnection.of(object)?.connectCode = code
        }
        mosquitto_subscribe_callback_set(mosquitto) { _, object, _, count, granted in
            // A broker may answer without a word on the one topic.
            MQTTConnection.of(object)?.grantedQoS = count > 0 ? granted?.pointee ?? 0x80 : 0x80
        }
        mosquitto_unsubscribe_callback_set(mosquitto) { _, object, _ in
            MQTTConnection.of(object)?.isUnsubscribed = true
        }
        mosquitto_message_callback_set(mosquitto) { _, object, message in
            guard let connection = MQTTConnection.of(object), let message = message?.pointee else { return }
            let count = Int(message.payloadlen)
            let isLarge = count > PushJudgement.payloadLimit
            let bytes = isLarge ? nil : [UInt8](UnsafeRawBufferPointer(start: message.payload, count: max(0, count)))
            connection.deliver(MQTTMessage(payload: bytes, isRetained: message.retain))
        }
        mosquitto_log_callback_set(mosquitto) { _, object, level, text in
            // The only place where the reasons of OpenSSL are found.
            guard level == 0x08, let text else { return }  // MOSQ_LOG_ERR
            MQTTConnection.of(object)?.noteTLS(String(cString: text))
        }
    }

    /// Keeps the last part of `OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed`.
    private func noteTLS(_ text: String) {
        guard tlsReason == nil, text.contains("OpenSSL"), let last = text.split(separator: ":").last else { return }
        tlsReason = String(last.drop { $0 == " " })
    }

    private static func of(_ object: UnsafeMutableRawPointer?) -> MQTTConnection? {
        object.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let library: Int32 = mosquitto_lib_init()
}
