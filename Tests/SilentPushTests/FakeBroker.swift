import Foundation
import Synchronization
import TestSupport

@testable import MQTTClient
@testable import SilentPush

/// A listener in place of a broker that runs a test's script for each connection.
final class FakeBroker: Sendable {
    let port: Int
    private let listener: Int32
    private let connections = Connections()

    /// The connections whose scripts run; `nil` once the broker has ended.
    private final class Connections: Sendable {
        let open = Mutex<[Int32]?>([])
    }

    /// - Parameter script: handles a connection on a thread that may block; `number` counts connections from 0.
    init(_ script: @escaping @Sendable (FakeBrokerConnection, _ number: Int) throws -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        port = try bindLoopback(listener, port: 0)
        guard listen(listener, 16) == 0 else { throw SystemCallFailure("listen") }
        Thread.detachNewThread { [connections] in
            // Each thread closes its own descriptor, and others only shut it down: a closed number may be in use again.
            defer { close(listener) }
            var number = 0
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                let isEnded = connections.open.withLock { open in
                    open?.append(connection)
                    return open == nil
                }
                if isEnded {
                    close(connection)
                    return
                }
                let own = number
                Thread.detachNewThread {
                    try? script(FakeBrokerConnection(descriptor: connection), own)
                    connections.open.withLock { $0?.removeAll { $0 == connection } }
                    close(connection)
                }
                number += 1
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.open.withLock { open in
            for connection in open ?? [] { shutdown(connection, Int32(SHUT_RDWR)) }
            open = nil
        }
    }
}

/// A connection of a ``FakeBroker``; its calls block for at most 20 s.
struct FakeBrokerConnection: Sendable {
    struct Ended: Error {}

    let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Ended() }
            rest = rest.dropFirst(count)
        }
    }

    private func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count < count {
            let got = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0)
            guard got > 0 else { throw Ended() }
            bytes += buffer[..<got]
        }
        return bytes
    }

    /// Reads one packet and returns its first byte and the bytes after its length.
    func receive() throws -> (head: UInt8, body: [UInt8]) {
        let head = try read(1)[0]
        var (length, scale) = (0, 1)
        while true {
            let byte = try read(1)[0]
            length += Int(byte & 0x7F) * scale
            scale *= 128
            if byte & 0x80 == 0 { break }
        }
        return (head, try read(length))
    }

    /// Accepts the client and its subscription.
    func greet(granting qos: UInt8 = 1) throws {
        _ = try receive()
        try send([0x20, 2, 0, 0])
        let subscription = try receive()
        try send([0x90, 3, subscription.body[0], subscription.body[1], qos])
    }

    /// Waits until the client closes.
    func waitForEnd() {
        while (try? receive()) != nil {}
    }

    /// Returns a PUBLISH packet on the topic `t`.
    static func message(_ payload: [UInt8], id: UInt16 = 1, qos: UInt8 = 1, announcing length: Int? = nil) -> [UInt8] {
        var rest = (length ?? payload.count) + 3 + (qos > 0 ? 2 : 0)
        var packet: [UInt8] = [0x30 | qos << 1]
        repeat {
            packet.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        packet += [0, 1, UInt8(ascii: "t")]
        if qos > 0 { packet += [UInt8(id >> 8), UInt8(id & 0xFF)] }
        return packet + payload
    }
}
