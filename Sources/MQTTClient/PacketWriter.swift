import Glibc

/// Writes messages and acknowledgements to a connection without TLS.
///
/// While libmosquitto has unacknowledged messages, it reads several packets at a time, past ``PacketReader``. So without TLS it never
/// has any: this writes them, and the reader reads their acknowledgements.
struct PacketWriter {
    private let descriptor: Int32
    private var bytes: [UInt8] = []
    /// The number of the first bytes that the system has taken.
    private var taken = 0
    /// Whether the system has taken a part of a packet, so that nothing else may be written before the rest.
    private(set) var isInsidePacket = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    var isEmpty: Bool { bytes.isEmpty }

    /// The number of bytes that the system has not taken.
    var waiting: Int { bytes.count - taken }

    /// Adds the PUBLISH packet of a message (MQTT 3.1.1, 3.3).
    ///
    /// - Parameter id: the packet identifier of a message of QoS 1; `nil` for QoS 0.
    mutating func add(_ message: MQTTPublication, id: UInt16?) {
        var topic = message.topic
        bytes.append((id == nil ? 0x30 : 0x32) | (message.isRetained ? 1 : 0))
        var length = 2 + topic.utf8.count + (id == nil ? 0 : 2) + message.payload.count
        repeat {
            bytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        append(UInt16(truncatingIfNeeded: topic.utf8.count))
        topic.withUTF8 { bytes.append(contentsOf: $0) }
        if let id { append(id) }
        bytes.append(contentsOf: message.payload)
    }

    /// Adds the acknowledgement of a message (PUBACK).
    mutating func acknowledge(_ id: UInt16) {
        bytes.append(0x40)
        bytes.append(2)
        append(id)
    }

    private mutating func append(_ number: UInt16) {
        bytes.append(UInt8(number >> 8))
        bytes.append(UInt8(number & 0xFF))
    }

    /// Writes as much as the system takes without blocking. Returns whether it took anything.
    mutating func write() throws(MQTTFailure) -> Bool {
        var hasWritten = false
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[taken...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else { throw .closed }
            taken += count
            if taken == bytes.count {
                // Its memory is kept for the next messages.
                bytes.removeAll(keepingCapacity: true)
                taken = 0
            } else if taken > MQTTLimits.packetLimit {
                bytes.removeFirst(taken)
                taken = 0
            }
            hasWritten = true
        }
        isInsidePacket = !bytes.isEmpty && (hasWritten || isInsidePacket)
        return hasWritten
    }
}
