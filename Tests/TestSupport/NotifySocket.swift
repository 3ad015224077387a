import Foundation
import Glibc
import Synchronization

/// A socket for sd_notify(3) that collects the messages of a service.
package final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let received = Mutex<[String]>([])
    private let changed = Signal()

    /// - Parameter path: The path of the socket to create, at most 107 bytes.
    package init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8.prefix(107))) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
        }
        guard result == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let own = dup(descriptor)
        Thread.detachNewThread { [weak self] in
            defer { close(own) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(own, &buffer, buffer.count, 0), count > 0 {
                self?.keep(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The messages so far, oldest first.
    package var messages: [String] { received.withLock { $0 } }

    /// Returns once `message` has arrived `count` times.
    package func wait(for message: String, count: Int = 1) async throws {
        try await changed.wait(for: "\(count) × \(message)") {
            messages.count { $0 == message } >= count ? () : nil
        }
    }

    private func keep(_ message: String) {
        received.withLock { $0.append(message) }
        changed.post()
    }
}
