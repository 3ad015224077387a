import FoundationEssentials
import Glibc
import SystemSupport

/// A message from the service to a keeper.
enum KeeperCommand: Codable, Sendable {
    /// The first message on a keeper's first connection.
    case begin(CommandOrder)
    case lease(Lease)
    /// Send SIGTERM to the group.
    case terminate
    /// Kill the tree.
    case kill
}

/// A message from a keeper to the service.
enum KeeperReport: Codable, Sendable {
    /// The first message on each connection.
    case began(RunningCommand)
    case refused(step: SpawnFailure.Step, name: String, code: Int32)
    /// The last message.
    case ended(CommandEnd)
}

/// How the service starts a keeper.
enum KeeperProgram {
    /// The name of the process. It differs from the service's, which may be killed by name.
    static let name = "task-keeper"
    /// The inherited socket to the service. 1 and 2 are the command's output if the keeper does not copy it.
    static let socket: CInt = 3
}

/// Functions for a SOCK_SEQPACKET connection on which each message is a packet of JSON.
enum KeeperSocket {
    /// More bytes than any order has: the bodies of requests are smaller.
    private static let largest = 1 << 21

    /// Sends a message without waiting and without SIGPIPE.
    ///
    /// - Returns: 0, or an `errno`.
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

    /// Sends a command. Urgent commands are a single byte, which is read faster than JSON.
    ///
    /// - Returns: 0, or an `errno`.
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

    /// Returns the next command; `nil` at the end of the connection and for an invalid message.
    static func receiveCommand(on descriptor: CInt) -> KeeperCommand? {
        guard let bytes = receive(on: descriptor) else { return nil }
        return switch bytes {
        case [terminate]: .terminate
        case [kill]: .kill
        default: try? JSONDecoder().decode(KeeperCommand.self, from: Data(bytes))
        }
    }

    /// Returns the next message; `nil` at the end of the connection and for an invalid message. Blocks unless the descriptor is
    /// non-blocking.
    static func receive<Message: Decodable>(_ type: Message.Type, on descriptor: CInt) -> Message? {
        receive(on: descriptor).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }

    private static func receive(on descriptor: CInt) -> [UInt8]? {
        // The size first, since most messages are tiny.
        let count = receive(descriptor, nil, 0, CInt(MSG_PEEK) | CInt(MSG_TRUNC))
        guard count > 0, count <= largest else { return nil }
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            length = receive(descriptor, buffer.baseAddress, count, 0)
            initialized = max(0, length)
        }
        return length > 0 ? bytes : nil
    }

    /// Retries recv(2) on EINTR and ECONNRESET, which do not mean end of stream. A peer that closed without reading everything causes
    /// one ECONNRESET, possibly before the messages that it had sent.
    private static func receive(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer?, _ size: Int, _ flags: CInt)
        -> Int
    {
        var hasEnded = false
        while true {
            let count = recv(descriptor, buffer, size, flags)
            if count == 0, !hasEnded {
                // The kernel checks for a message first and for the end afterwards; a last message may arrive in between.
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

    /// Calls `body` with `address` in the form that socket calls expect.
    static func with(_ address: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
