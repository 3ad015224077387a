import BackgrounderAPI
import CMosquitto
import Glibc
import SystemSupport
import WebSupport

/// One connection to a broker, from its opening to its end. Owns a `struct mosquitto`.
///
/// It is for one thread, which it may block. libmosquitto's own thread is not used because it would wake up every
/// second.
///
/// With TLS, libmosquitto queues the acknowledgement of a message (PUBACK) before it calls the message callback.
/// `mosquitto_threaded_set` makes it leave the writing of that queue to this class, so that no message is acknowledged
/// before it is stored. Without TLS, it does not see the messages.
final class MQTTConnection {
    enum Phase {
        /// Until the TCP connection is established.
        case connecting
        /// Until the broker accepts the client (CONNACK).
        case greeting
        /// Until it confirms the subscription (SUBACK).
        case subscribing
        case listening
        /// Until it confirms the end of the subscription (UNSUBACK).
        case unsubscribing
    }

    let options: MQTTOptions
    let outbox: (any MQTTOutbox)?
    let control: MQTTControl
    let mosquitto: OpaquePointer
    var phase = Phase.connecting
    /// Both only without TLS.
    var packets: PacketReader?
    var writer: PacketWriter?
    /// Without TLS: whether nothing is known to be left to read.
    var hasReadAll = true
    var lastID: UInt16 = 0
    var deadline: MonotonicTime
    private var lastSent = MonotonicTime.now
    /// Whether a PINGREQ has not been answered yet.
    var isSignAwaited = false
    /// Without TLS: the packet identifiers of ``arrived``, to be acknowledged once they are stored.
    private var arrivedIDs: [UInt16] = []
    /// Published messages of QoS 1 that the broker has not acknowledged, oldest first.
    var unacknowledged: [(id: Int32, tag: Int64, sent: MonotonicTime)] = []
    /// Their number when messages were sent last; 0 if it was small.
    var burst = 0
    /// With TLS: the acknowledgements that may arrive without waking the thread.
    var quietAcknowledgements = 0
    /// When to ask the outbox again; `nil` if it waits to be woken.
    var nextTurn: MonotonicTime?

    // Results of the callbacks, which run during calls of libmosquitto's functions.
    var connectCode: Int32?
    /// One for each topic, in the order of the topics.
    var grantedQoS: [Int32] = []
    var unsubscribed = 0
    private var isUnsubscribed: Bool { unsubscribed >= options.topics.count }
    var tlsReason: String?
    /// Messages that have arrived and are not being stored yet.
    var arrived: [MQTTMessage] = []
    /// Messages that are being stored. With TLS, nothing is written until they are stored, since their acknowledgements would be.
    private var delivery: MQTTDelivery

    /// Resolves the host, which may block for a long time, and begins to connect.
    ///
    /// - Parameter localAddress: the address to connect from; `0.0.0.0` selects IPv4.
    init(
        _ options: MQTTOptions,
        outbox: (any MQTTOutbox)? = nil,
        from localAddress: String?,
        control: MQTTControl
    ) throws(MQTTFailure) {
        _ = Self.library
        guard let mosquitto = mosquitto_new(options.clientID, !options.isDurable, nil) else {
            throw .library(reason: systemMessage(errno))
        }
        (self.options, self.outbox, self.control, self.mosquitto) = (options, outbox, control, mosquitto)
        delivery = MQTTDelivery(control.store) { [wakeup = control.wakeup] in wakeup.signal() }
        deadline = .now + .seconds(MQTTLimits.answerDelay)
        mosquitto_user_data_set(mosquitto, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_threaded_set(mosquitto, true)
        try check(mosquitto_int_option(mosquitto, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V311))
        _ = mosquitto_max_inflight_messages_set(mosquitto, MQTTLimits.inFlight)
        _ = mosquitto_int_option(mosquitto, MOSQ_OPT_TCP_NODELAY, 1)
        setCallbacks()
        if let will = options.will {
            let (count, qos) = (Int32(will.payload.count), Int32(will.tag == nil ? 0 : 1))
            try check(mosquitto_will_set(mosquitto, will.topic, count, will.payload, qos, will.isRetained))
        }
        if let path = options.credentials {
            let credentials: BrokerCredentials
            do { credentials = try BrokerCredentials(path: path) } catch { throw .credentials(error) }
            try check(mosquitto_username_pw_set(mosquitto, credentials.user, credentials.password))
        }
        if options.address.isSecure {
            try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
            try present(options.certificate)
        }
        try check(
            mosquitto_connect_bind_async(
                mosquitto,
                options.address.host,
                Int32(options.address.port),
                Int32(MQTTLimits.keepalive),
                localAddress
            )
        )
        // libmosquitto does not set close-on-exec, so child processes would inherit the socket.
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    deinit { mosquitto_destroy(mosquitto) }

    /// Makes libmosquitto present the client's certificate.
    private func present(_ certificate: ClientCertificate?) throws(MQTTFailure) {
        guard let certificate else { return }
        do throws(CredentialsError) { try certificate.check() } catch { throw .credentials(error) }
        try check(
            // Without a folder of authorities, libmosquitto refuses the certificate. Those of OpenSSL are the same.
            mosquitto_tls_set(mosquitto, nil, "/etc/ssl/certs", certificate.file, certificate.key) { _, _, _, _ in
                // A key with a password cannot be used: OpenSSL would ask for it on the terminal.
                0
            }
        )
    }

    /// Receives and publishes messages until the connection is lost or `control` asks to end it. Blocks the thread.
    ///
    /// - Throws: why the connection was lost.
    func run() throws(MQTTFailure) {
        // The next connection may bring the same messages.
        defer { delivery.finish() }
        while true {
            switch control.wish {
            case .listen: break
            case .leave: return leave()
            case .forget where phase == .listening:
                guard !options.topics.isEmpty else { return leave(forgetting: true) }
                for topic in options.topics { mosquitto_unsubscribe(mosquitto, nil, topic.description) }
                phase = .unsubscribing
                deadline = .now + .seconds(1)  // Tuned: a courtesy only, and the service may be about to exit.
                try write()
            case .forget where phase == .unsubscribing && !isUnsubscribed: break
            case .forget: return leave(forgetting: true)
            }
            if phase == .listening { try publish() }
            setQuiet()
            let wakeup = control.wakeup.wait(for: socket, events: awaitedEvents, until: nextTime)
            if wakeup.events != 0 { try handle(wakeup.events) }
            // Acknowledgements may be there that did not wake the thread.
            if wakeup.events & Int16(POLLIN) == 0, phase == .listening, !unacknowledged.isEmpty {
                if packets != nil { try readPlain(isOver: false) } else { try readSecure() }
            }
            if MonotonicTime.now >= deadline { try time() }
            try settle()
            try write()
        }
    }

    var socket: Int32 { mosquitto_socket(mosquitto) }

    private var hasEnded: Bool { socket < 0 }

    var wantsToWrite: Bool { mosquitto_want_write(mosquitto) || writer?.isEmpty == false }

    /// `POLLRDHUP` (poll(2), not in POSIX): the peer sends no more data.
    private static let hangUp: Int16 = 0x2000
    /// Urgent data of TCP, which MQTT does not use. recv(2) stops before it, and poll(2) counts it and what follows.
    private static let urgent = Int16(POLLPRI)

    private var awaitedEvents: Int16 {
        switch phase {
        case .connecting: return Int16(POLLOUT)
        // With TLS, libmosquitto reports that it wants to write during the whole handshake, although it waits for the
        // broker.
        case .greeting where options.address.isSecure: return Int16(POLLIN) | Self.hangUp
        default:
            return Int16(POLLIN) | Self.hangUp | Self.urgent | (wantsToWrite ? Int16(POLLOUT) : 0)
        }
    }

    /// Handles poll(2) events of the socket.
    private func handle(_ events: Int16) throws(MQTTFailure) {
        if phase == .connecting {
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout.size(ofValue: code))
            getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
            // libmosquitto begins the handshake of TLS before this is known, and the broker may have reset the connection already.
            if code == ECONNRESET, options.address.isSecure { throw .turnedAway }
            guard code == 0 else { throw .unreachable(reason: systemMessage(code)) }
            phase = .greeting
            deadline = .now + .seconds(MQTTLimits.answerDelay)
            guard !options.address.isSecure else { return try readSecure() }
            packets = PacketReader(descriptor: socket, receiveBuffer: options.receiveBuffer)
            writer = PacketWriter(descriptor: socket)
            return
        }
        guard events & Self.urgent == 0 else { throw .notMQTT }
        let isOver = events & (Self.hangUp | Int16(POLLHUP) | Int16(POLLERR)) != 0
        if packets != nil {
            try readPlain(isOver: isOver)
        } else {
            try readSecure()
            if events & Int16(POLLIN) != 0 { heardSign() }
            // libmosquitto does not report an aborted handshake. Read once more for each step that may still be
            // buffered.
            if isOver, phase == .greeting {
                for _ in 0..<8 where phase == .greeting { try readSecure() }
                if phase == .greeting {
                    throw .insecure(reason: "the broker closed the connection; check whether it expects mqtt://")
                }
            }
        }
    }

    /// Accepts received data as the answer to a PINGREQ: a complete packet, or any bytes with TLS.
    private func heardSign() {
        guard isSignAwaited, phase == .listening else { return }
        isSignAwaited = false
        deadline = lastSent + .seconds(MQTTLimits.keepalive)
    }

    private func readPlain(isOver: Bool) throws(MQTTFailure) {
        let end = MonotonicTime.now + .seconds(MQTTLimits.reading)
        while let finding = try packets?.read(upTo: options.portion - arrived.count) {
            switch finding {
            case .packet: try received(mosquitto_loop_read(mosquitto, 1))
            case .acknowledged(let ids):
                confirmed(ids)
            case .messages(let messages):
                arrived += messages.lazy.map(\.content)
                arrivedIDs += messages.lazy.compactMap(\.id)
            case .incomplete where !isOver:
                hasReadAll = true
                return try settle()
            case .incomplete, .end:
                try store()
                throw phase == .greeting ? .turnedAway : .closed
            }
            heardSign()
            deliverPortion()
            while unstored >= options.batch { _ = try acknowledge(isPatient: true) }
            try write()
            hasReadAll = .now < end
            if !hasReadAll { return }
        }
    }

    private func readSecure() throws(MQTTFailure) {
        var count: Int
        repeat {
            count = unstored
            // This reads all messages of a TLS record, which may have only one.
            try received(mosquitto_loop_read(mosquitto, 1))
            deliverPortion()
        } while unstored > count && unstored < options.batch
        try store()
        try write()
    }

    /// Acts on the results of the callbacks after a call that returned `code`.
    private func received(_ code: Int32) throws(MQTTFailure) {
        if let connectCode, let refusal = MQTTFailure(connack: connectCode) { throw refusal }
        try check(code)
        guard !hasEnded else { throw .closed }
        if phase == .greeting, connectCode == 0 {
            guard !options.topics.isEmpty else { return begin() }
            phase = .subscribing
            deadline = .now + .seconds(MQTTLimits.answerDelay)
            // Subscribe each time: an earlier connection may have ended before the broker received the subscription.
            for topic in options.topics { try check(mosquitto_subscribe(mosquitto, nil, topic.description, 1)) }
        }
        if phase == .subscribing, !grantedQoS.isEmpty {
            // 0x80 is the only value above 2 (MQTT 3.1.1, 3.9.3).
            let refused = zip(options.topics, grantedQoS).first { $0.1 > 2 }?.0
            if let refused, outbox == nil { throw .refusedTopic(refused.description) }
            if grantedQoS.count >= options.topics.count { begin(without: refused) }
        }
    }

    /// - Parameter refused: a topic that the broker refused. The session publishes all the same.
    private func begin(without refused: TopicFilter? = nil) {
        phase = .listening
        deadline = lastSent + .seconds(MQTTLimits.keepalive)
        outbox?.opened(at: .now)
        control.report(.connected(refused: refused?.description))
    }

    /// Writes queued packets without blocking.
    func write() throws(MQTTFailure) {
        guard phase != .connecting else { return }
        // Two write to one socket, each only between two packets of the other.
        var hasWritten = false
        if writer?.isInsidePacket != true, mosquitto_want_write(mosquitto) {
            try check(mosquitto_loop_write(mosquitto, 1))
            guard !hasEnded else { throw .closed }
            hasWritten = true
        }
        if !mosquitto_want_write(mosquitto) || writer?.isInsidePacket == true, try writer?.write() == true {
            hasWritten = true
        }
        if hasWritten {
            lastSent = .now
            if phase == .listening, !isSignAwaited { deadline = lastSent + .seconds(MQTTLimits.keepalive) }
        }
    }

    /// Handles a passed deadline: sends a PINGREQ, or gives up on an answer.
    private func time() throws(MQTTFailure) {
        switch phase {
        case .connecting: throw .unreachable(reason: systemMessage(ETIMEDOUT))
        case .greeting, .subscribing:
            // The answer may be among what has arrived.
            guard !hasReadAll else { throw .silent }
            deadline = .now + .seconds(1)
        case .listening where isSignAwaited: throw .silent
        case .listening:
            try check(mosquitto_loop_misc(mosquitto))
            guard mosquitto_want_write(mosquitto) else {
                deadline = .now + .seconds(1)
                return
            }
            isSignAwaited = true
            deadline = .now + .seconds(MQTTLimits.signOfLife)
        case .unsubscribing: unsubscribed = options.topics.count
        }
    }

    /// Sends the last messages and a DISCONNECT if that is possible without waiting for long.
    private func leave(forgetting: Bool = false) {
        guard phase != .connecting, !hasEnded, (try? store()) != nil, (try? write()) != nil else { return }
        if let outbox, phase == .listening || phase == .unsubscribing {
            for message in outbox.farewell(forgetting: forgetting) {
                guard (try? post(message, at: .now)) != nil, (try? write()) != nil else { return }
            }
            // If data that arrived is not read before the end, the system resets the connection, and the broker may not read the
            // last messages.
            let end = MonotonicTime.now + .seconds(MQTTLimits.farewell)
            while !unacknowledged.isEmpty, .now < end {
                setQuiet()
                let events = control.wakeup.wait(for: socket, events: awaitedEvents, until: end).events
                guard events == 0 || (try? handle(events)) != nil, (try? write()) != nil else { return }
            }
        }
        guard writer?.isInsidePacket != true else { return }
        mosquitto_disconnect(mosquitto)
        mosquitto_loop_write(mosquitto, 1)
    }

    /// Throws the failure for an error code of libmosquitto.
    func check(_ code: Int32) throws(MQTTFailure) {
        guard code != MOSQ_ERR_SUCCESS.rawValue, code != MOSQ_ERR_CONN_PENDING.rawValue else { return }
        let failure = MQTTFailure(code, host: options.address.host, tlsReason: tlsReason)
        // A reset during the handshake of TLS is an answer, too.
        let isAnswer = failure == .closed || failure.isOfAddress && options.address.isSecure
        throw phase == .greeting && isAnswer ? .turnedAway : failure
    }

    private var unstored: Int { arrived.count + delivery.count }

    /// Delivers the messages that have arrived if they are enough to be stored together.
    private func deliverPortion() {
        if arrived.count >= options.portion { deliver() }
    }

    private func deliver() {
        delivery.add(arrived, ids: arrivedIDs)
        (arrived, arrivedIDs) = ([], [])
    }

    /// Delivers the messages that have arrived, and waits until all are stored.
    private func store() throws(MQTTFailure) {
        deliver()
        while try acknowledge(isPatient: true) {}
    }

    /// Acknowledges what has been stored meanwhile. If nothing is being stored, delivers what has arrived, however little.
    private func settle() throws(MQTTFailure) {
        while try acknowledge(isPatient: false) {}
        if delivery.count == 0 { deliver() }
    }

    /// Acknowledges the oldest messages that are being stored. Returns false if there are none, or if they are not stored yet.
    ///
    /// - Parameter isPatient: true to wait until they are.
    private func acknowledge(isPatient: Bool) throws(MQTTFailure) -> Bool {
        do throws(MQTTDeliveryFailure) {
            guard let ids = try delivery.next(isPatient: isPatient) else { return false }
            for id in ids { writer?.acknowledge(id) }
        } catch {
            throw .notStored(reason: error.reason)
        }
        if writer?.waiting ?? 0 > MQTTLimits.waitingBytes { throw .silent }
        return true
    }

    private static let library: Int32 = mosquitto_lib_init()
}
