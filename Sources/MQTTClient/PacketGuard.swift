import Glibc

/// Checks the packets of a connection without TLS before libmosquitto reads them.
///
/// libmosquitto allocates the size that a packet announces, up to 256 MiB, and again for the message in it. So it may
/// read only packets that have arrived completely, are small and are valid for a client. A message that is too
/// large is skipped here and reported. With TLS this check is impossible, but also less important, because the broker
/// has proved its identity.
struct PacketGuard {
    enum Finding {
        /// libmosquitto can read one packet.
        case packet
        /// The acknowledgements of messages were read (PUBACK).
        case acknowledged([UInt16])
        /// A message was too large and was skipped.
        case oversize(LargeMessage)
        /// The packet has not arrived completely.
        case incomplete
        /// The connection has ended.
        case end
    }

    /// A skipped message.
    struct LargeMessage {
        /// The packet identifier for its acknowledgement; `nil` for QoS 0, which has none.
        var id: UInt16?
        var isRetained: Bool
    }

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: MQTTLimits.packetLimit)
    /// Whether the CONNACK has arrived.
    private var isLetIn = false
    /// The message that is being skipped.
    private var large: LargeMessage?
    /// Bytes of it that have not been read yet.
    private var rest = 0
    /// Bytes that the current packet needs before it can be examined further.
    private var needed = 1
    /// Bytes that may arrive without waking the thread, unless a packet is incomplete.
    private var quiet = 0
    /// Bytes that must be there for poll(2) to report the socket as readable (`SO_RCVLOWAT`).
    private var lowWater: Int32 = 1

    init(descriptor: Int32) {
        self.descriptor = descriptor
        // A segment stays in the system's buffer until its last byte is read, and may fill the initial 128 KiB. The rest of a packet that
        // begins in its last bytes would never arrive.
        var size = MQTTLimits.receiveBuffer
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Examines the next packet without reading it, or skips it if it is too large.
    ///
    /// - Throws: ``MQTTFailure/notMQTT`` for a packet that a broker never sends to a client of QoS 0 and 1.
    mutating func look() throws(MQTTFailure) -> Finding {
        if large != nil { return skip() }
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        guard count > 0 else { return nothing(count) }
        let type = buffer[0] >> 4
        guard isLetIn || type == 2 else { throw .notMQTT }
        var (length, scale, head) = (0, 1, 1)
        while true {
            guard head <= 4 else { throw .notMQTT }
            guard head < count else { return wait(for: head + 1) }
            length += Int(buffer[head] & 0x7F) * scale
            scale *= 128
            head += 1
            if buffer[head - 1] & 0x80 == 0 { break }
        }
        switch (type, length) {
        // CONNACK, PUBACK (only in its shortest form, in which several are read together), SUBACK, UNSUBACK, PINGRESP
        case (2, 2) where !isLetIn, (4, 2) where head == 2, (9, 3), (11, 2), (13, 0): break
        case (3, 3...) where buffer[0] & 0x06 < 4: break  // PUBLISH with QoS 0 or 1, the most that is requested
        default: throw .notMQTT
        }
        guard head + length > buffer.count else {
            guard head + length <= count else { return wait(for: head + length) }
            if type == 2 { isLetIn = true }
            wait(for: 1)
            return type == 4 ? acknowledgements(in: count) : .packet
        }
        let qos = buffer[0] >> 1 & 3
        guard head + 2 <= count else { return wait(for: head + 2) }
        let end = head + 2 + Int(buffer[head]) << 8 + Int(buffer[head + 1])
        guard end + (qos == 0 ? 0 : 2) <= head + length else { throw .notMQTT }
        let id = qos == 0 ? nil : identifier(at: end)
        guard qos == 0 || id != nil else { return wait(for: end + 2) }
        large = LargeMessage(id: id, isRetained: buffer[0] & 1 == 1)
        rest = head + length
        wait(for: 1)
        return skip()
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
            ids.append(UInt16(buffer[ids.count * size + 2]) << 8 | UInt16(buffer[ids.count * size + 3]))
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
        return .oversize(message)
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
