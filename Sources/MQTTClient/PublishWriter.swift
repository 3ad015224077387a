import Glibc

/// Writes messages to a connection without TLS.
///
/// While libmosquitto has unacknowledged messages, it reads several packets at a time, past ``PacketGuard``. So without TLS it never
/// has any: this writes them, and the guard reads their acknowledgements.
struct PublishWriter {
    private let descriptor: Int32
    /// The bytes that the system has not taken yet.
    private var bytes: ArraySlice<UInt8> = []
    /// Whether the system has taken a part of a packet, so that nothing else may be written before the rest.
    private(set) var isInsidePacket = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds the PUBLISH packet of a message (MQTT 3.1.1, 3.3).
    ///
    /// - Parameter id: the packet identifier of a message of QoS 1; `nil` for QoS 0.
    mutating func add(_ message: MQTTPublication, id: UInt16?) {
        let topic = message.topic.utf8
        bytes.append((id == nil ? 0x30 : 0x32) | (message.isRetained ? 1 : 0))
        var length = 2 + topic.count + (id == nil ? 0 : 2) + message.payload.count
        repeat {
            bytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        bytes += [UInt8(topic.count >> 8 & 0xFF), UInt8(topic.count & 0xFF)]
        bytes += topic
        if let id { bytes += [UInt8(id >> 8), UInt8(id & 0xFF)] }
        bytes += message.payload
    }

    /// Writes as much as the system takes without blocking. Returns whether it took anything.
    mutating func write() throws(MQTTFailure) -> Bool {
        var hasWritten = false
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EAGAIN || errno == EINTR { break }
            guard count > 0 else { throw .closed }
            bytes = bytes.dropFirst(count)
            hasWritten = true
        }
        isInsidePacket = !bytes.isEmpty && (hasWritten || isInsidePacket)
        return hasWritten
    }
}
