import Foundation
import Glibc

/// A plain connection to a Unix socket or a TCP port, so that a test can send bytes that no HTTP client would.
///
/// Calls block on a queue of their own, never on the cooperative pool. Make one call at a time.
package final class StreamSocket: Sendable {
    package let descriptor: Int32
    private let queue = DispatchQueue(label: "test.socket")

    /// Connects to the Unix socket at `path`.
    package init(_ path: String) throws {
        descriptor = try connectUnix(path)
    }

    /// Connects to a TCP port of this machine.
    package init(port: Int) throws {
        descriptor = try connectLoopback(port: port)
    }

    deinit { close(descriptor) }

    /// Sends all of `bytes`; throws if the peer has closed.
    package func send(_ bytes: some Sequence<UInt8> & Sendable) async throws {
        try await onQueue { descriptor in
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Self.systemError() }
                rest = rest.dropFirst(count)
            }
        }
    }

    package func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    /// Returns the next bytes, at most 64 KiB; empty if the peer has closed.
    package func receive(within seconds: Double = 60) async throws -> [UInt8] {
        try await onQueue { descriptor in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, Int32(seconds * 1000)) > 0 else {
                throw DeadlinePassed(what: "bytes", seconds: seconds)
            }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            // A peer that closes with our bytes unread resets the connection.
            guard count >= 0 || errno == ECONNRESET else { throw Self.systemError() }
            return Array(buffer.prefix(max(0, count)))
        }
    }

    /// Returns all bytes until the peer closes.
    package func receiveAll(within seconds: Double = 60) async throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try await receive(within: seconds)
            if bytes.isEmpty { return all }
            all += bytes
        }
    }

    /// Ends the sending direction; receiving continues.
    package func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func onQueue<Result: Sendable>(_ body: @escaping @Sendable (Int32) throws -> Result) async throws -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [descriptor] in continuation.resume(with: Swift.Result { try body(descriptor) }) }
        }
    }

    private static func systemError() -> POSIXError {
        POSIXError(.init(rawValue: errno) ?? .EIO)
    }
}
