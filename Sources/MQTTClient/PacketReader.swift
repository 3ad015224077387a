import Glibc

/// Reads the messages and acknowledgements of a connection without TLS, and checks the packets that libmosquitto reads.
///
/// libmosquitto allocates the size that a packet announces, up to 256 MiB. So it may read only packets that have
/// arrived completely, are small and are valid for a client. A message that is too large is skipped here and reported.
/// With TLS this check is impossible, but also less important, because the broker has proved its identity.
///
/// Messages are read here because libmosquitto reads each of them with several system calls, and acknowledges it with another one.
struct PacketReader {
    enum Finding {
        /// libmosquitto can read one packet.
        case packet
        /// The acknowledgements of messages were read (PUBACK).
        case acknowledged([UInt16])
        /// Messages were read, or one that is too large was skipped.
        case messages([Message])
        /// The packet has not arrived completely.
        case incomplete
        /// The connection has ended.
        case end
    }

    /// A message that was read.
    struct Message {
        /// The packet identifier for its acknowledgement; `nil` for QoS 0, which has none.
        var id: UInt16?
        var content: MQTTMessage
    }

    /// The first bytes of a packet (MQTT 3.1.1, 2.2).
    private struct Header {
        var type: UInt8
        var flags: UInt8
        /// Bytes of the header.
        var size: Int
        /// Bytes of the packet.
        var total: Int

        /// The quality of service of a message.
        var qos: UInt8 { flags >> 1 & 3 }
        var isRetained: Bool { flags & 1 == 1 }
    }

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: MQTTLimits.packetLimit)
    /// Whether the CONNACK has arrived.
    private var isLetIn = false
    /// The message that is being skipped.
    private var large: Message?
    /// Bytes of it that have not been read yet.
    private var rest = 0
    /// Bytes that the current packet needs before it can be examined further.
    private var needed = 1
    /// Bytes that may arrive without waking the thread, unless a packet is incomplete.
    private var quiet = 0
    /// Bytes that must be there for poll(2) to report the socket as readable (`SO_RCVLOWAT`).
    private var lowWater: Int32 = 1

    /// - Parameter receiveBuffer: bytes of the system's receive buffer.
    init(descriptor: Int32, receiveBuffer: Int32) {
        self.descriptor = descriptor
        // A segment stays in the system's buffer until its last byte is read, and may fill the initial 128 KiB. The rest of a packet that
        // begins in its last bytes would never arrive.
        var size = receiveBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads the next messages or acknowledgements, or examines another packet without reading it.
    ///
    /// - Parameter limit: the messages that may be read.
    /// - Throws: ``MQTTFailure/notMQTT`` for a packet that a broker never sends to a client of QoS 0 and 1.
    mutating func read(upTo limit: Int) throws(MQTTFailure) -> Finding {
        if large != nil { return skip() }
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        guard count > 0 else { return nothing(count) }
        guard isLetIn || buffer[0] >> 4 == 2 else { throw .notMQTT }
        guard let header = try header(at: 0, in: count) else { return wait(for: count + 1) }
        guard header.total > buffer.count else {
            guard header.total <= count else { return wait(for: header.total) }
            wait(for: 1)
            switch header.type {
            case 2: isLetIn = true
            case 3: return try messages(in: count, upTo: limit)
            case 4: return acknowledgements(in: count)
            default: break
            }
            return .packet
        }
        guard header.size + 2 <= count else { return wait(for: header.size + 2) }
        let end = header.size + 2 + Int(number(at: header.size))
        guard end + (header.qos == 0 ? 0 : 2) <= header.total else { throw .notMQTT }
        let id = header.qos == 0 ? nil : identifier(at: end)
        guard header.qos == 0 || id != nil else { return wait(for: end + 2) }
        guard id != 0 else { throw .notMQTT }
        large = Message(id: id, content: MQTTMessage(payload: nil, isRetained: header.isRetained))
        rest = header.total
        wait(for: 1)
        return skip()
    }

    /// Returns the header of the packet at `start`; `nil` if it is not among the first `count` bytes of the buffer.
    private func header(at start: Int, in count: Int) throws(MQTTFailure) -> Header? {
        var (length, scale, size) = (0, 1, 1)
        while true {
            guard size <= 4 else { throw .notMQTT }
            guard start + size < count else { return nil }
            length += Int(buffer[start + size] & 0x7F) * scale
            scale *= 128
            size += 1
            if buffer[start + size - 1] & 0x80 == 0 { break }
        }
        let header = Header(type: buffer[start] >> 4, flags: buffer[start] & 0xF, size: size, total: size + length)
        switch (header.type, length) {
        // CONNACK, PUBACK (only in its shortest form, in which several are read together), SUBACK, UNSUBACK, PINGRESP
        case (2, 2) where !isLetIn, (4, 2) where size == 2, (9, 3), (11, 2), (13, 0): break
        case (3, 3...) where header.qos < 2: break  // PUBLISH with QoS 0 or 1, the most that is requested
        default: throw .notMQTT
        }
        return header
    }

    /// Returns the number in the buffer at `index`.
    private func number(at index: Int) -> UInt16 { UInt16(buffer[index]) << 8 | UInt16(buffer[index + 1]) }

    /// Reads the messages with which the first `count` bytes of the buffer begin: at least one (MQTT 3.1.1, 3.3).
    private mutating func messages(in count: Int, upTo limit: Int) throws(MQTTFailure) -> Finding {
        var messages: [Message] = []
        var start = 0
        while messages.count < max(1, limit), start < count, buffer[start] >> 4 == 3,
            let header = try header(at: start, in: count), start + header.total <= count
        {
            let topic = start + header.size + 2
            let end = topic + Int(number(at: topic - 2))
            let payload = end + (header.qos == 0 ? 0 : 2)
            guard end > topic, payload <= start + header.total,
                let text = String(validating: buffer[topic..<end], as: UTF8.self), !text.utf8.contains(0)
            else { throw .notMQTT }
            let id = header.qos == 0 ? nil : number(at: end)
            guard id != 0 else { throw .notMQTT }
            let bytes = buffer[payload..<start + header.total]
            let content = MQTTMessage(
                topic: text,
                payload: bytes.count > MQTTLimits.payloadLimit ? nil : Array(bytes),
                isRetained: header.isRetained
            )
            messages.append(Message(id: id, content: content))
            start += header.total
        }
        return recv(descriptor, &buffer, start, Int32(MSG_DONTWAIT)) == start ? .messages(messages) : .end
    }

    /// Returns the two bytes at `index`, after a topic that may be longer than the buffer; `nil` if they have not arrived.
    private func identifier(at index: Int) -> UInt16? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: index + 2) { bytes in
            guard recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == bytes.count
            else { return nil }
            return UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
        }
    }

    /// Reads the acknowledgements with which the first `count` bytes of the buffer begin: at least one.
    private mutating func acknowledgements(in count: Int) -> Finding {
        let size = MQTTLimits.acknowledgementSize
        var ids: [UInt16] = []
        while (ids.count + 1) * size <= count, buffer[ids.count * size] >> 4 == 4, buffer[ids.count * size + 1] == 2 {
            ids.append(number(at: ids.count * size + 2))
        }
        let length = ids.count * size
        return recv(descriptor, &buffer, length, Int32(MSG_DONTWAIT)) == length ? .acknowledged(ids) : .end
    }

    /// Reads and discards the rest of the large message.
    private mutating func skip() -> Finding {
        while rest > 0 {
            let count = recv(descriptor, &buffer, min(rest, buffer.count), Int32(MSG_DONTWAIT))
            guard count > 0 else { return nothing(count) }
            rest -= count
        }
        guard let message = large else { return .incomplete }
        large = nil
        return .messages([message])
    }

    /// Interprets the result of a recv(2) that returned no bytes.
    private func nothing(_ count: Int) -> Finding {
        count < 0 && (errno == EAGAIN || errno == EINTR) ? .incomplete : .end
    }

    /// Sets how many bytes may arrive without waking the thread.
    mutating func setQuiet(_ count: Int) {
        quiet = count
        setLowWater()
    }

    /// Makes the thread wake up when `count` bytes have arrived, and not for each part of a packet.
    @discardableResult
    private mutating func wait(for count: Int) -> Finding {
        needed = count
        setLowWater()
        return .incomplete
    }

    private mutating func setLowWater() {
        let count = Int32(needed > 1 || large != nil ? needed : quiet + 1)
        guard count != lowWater else { return }
        lowWater = count
        setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &lowWater, socklen_t(MemoryLayout<Int32>.size))
    }
}
