import FoundationEssentials
import Glibc

/// What the service tells a keeper.
enum KeeperCommand: Codable, Sendable {
    /// The first on a keeper's first connection.
    case begin(CommandOrder)
    case lease(Lease)
    /// SIGTERM to the group.
    case terminate
    /// The end of the tree.
    case kill
}

/// What a keeper tells the service.
enum KeeperReport: Codable, Sendable {
    /// The first on each connection.
    case began(RunningCommand)
    case refused(step: SpawnFailure.Step, name: String, code: Int32)
    /// The last.
    case ended(CommandEnd)
}

/// A command that runs, as its keeper knows it. Times are nanoseconds of the monotonic clock.
package struct RunningCommand: Codable, Hashable, Sendable {
    package var pid: Int32
    /// Ticks of the machine's clock at which it began: with `pid` it is no other's.
    package var start: UInt64
    package var keeper: Int32
    /// Since when no service was connected, for one that connects again.
    package var aloneSince: Int64?
    /// Whether it was asked to end meanwhile.
    package var wasAskedToEnd: Bool
}

/// One end of a SOCK_SEQPACKET connection: a message is a packet of JSON.
enum KeeperSocket {
    /// More than any order: the bodies of requests are smaller.
    private static let largest = 1 << 21

    /// - Returns: 0 when the packet is on its way, or an `errno`; it never waits and never signals.
    @discardableResult
    static func send(json message: some Encodable, on descriptor: CInt) -> CInt {
        guard let data = try? JSONEncoder().encode(message) else { return EINVAL }
        return data.withUnsafeBytes { send($0, on: descriptor) }
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, on descriptor: CInt) -> CInt {
        while Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)) < 0 {
            guard errno == EINTR else { return errno }
        }
        return 0
    }

    /// A command; what has to be done in time is one byte, which is read faster than JSON.
    ///
    /// - Returns: as ``send(json:on:)``.
    @discardableResult
    static func send(_ command: KeeperCommand, on descriptor: CInt) -> CInt {
        let byte: UInt8
        switch command {
        case .terminate: byte = terminate
        case .kill: byte = kill
        case .begin, .lease: return send(json: command, on: descriptor)
        }
        return withUnsafeBytes(of: byte) { send($0, on: descriptor) }
    }

    private static let terminate = UInt8(ascii: "T")
    private static let kill = UInt8(ascii: "K")

    /// The next command; `nil` at the end of the connection, and for what is none.
    static func receiveCommand(on descriptor: CInt) -> KeeperCommand? {
        guard let bytes = receive(on: descriptor) else { return nil }
        return switch bytes {
        case [terminate]: .terminate
        case [kill]: .kill
        default: try? JSONDecoder().decode(KeeperCommand.self, from: Data(bytes))
        }
    }

    /// The next message; `nil` at the end of the connection, and for what is none. Waits unless the descriptor does not.
    static func receive<Message: Decodable>(_ type: Message.Type, on descriptor: CInt) -> Message? {
        receive(on: descriptor).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }

    private static func receive(on descriptor: CInt) -> [UInt8]? {
        // A look first: most are tiny.
        let count = take(descriptor, nil, 0, CInt(MSG_PEEK) | CInt(MSG_TRUNC))
        guard count > 0, count <= largest else { return nil }
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            length = take(descriptor, buffer.baseAddress, count, 0)
            initialized = max(0, length)
        }
        return length > 0 ? bytes : nil
    }

    /// recv(2), once more where it failed for what is no end. A peer that left without reading all is told of once, at any
    /// time, and before what it had sent.
    private static func take(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ flags: CInt) -> Int
    {
        var hasEnded = false
        while true {
            let count = recv(descriptor, buffer, size, flags)
            if count == 0, !hasEnded {
                // The kernel looks for a message first and for the end then; a last message may have come in between.
                hasEnded = true
                continue
            }
            guard count < 0, errno == EINTR || errno == ECONNRESET else { return count }
        }
    }

    static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        return withUnsafeMutableBytes(of: &address.sun_path) { target -> Bool in
            guard bytes.count < target.count else { return false }
            target.copyBytes(from: bytes)
            return true
        } ? address : nil
    }

    /// `body` with `address` as the socket calls want it.
    static func with(_ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
