import Foundation
import Testing

/// A sound server that accepts connections and never answers.
final class SilentServer: Sendable {
    private let descriptor: CInt
    private let path: String

    init() throws {
        let path = SoundServer.socket
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let descriptor = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let hasBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        self.path = path
        self.descriptor = descriptor
        try #require(hasBound)
        try #require(listen(descriptor, 64) == 0)
    }

    /// Waits until a client connects, for 10 s at most.
    func connected() async throws {
        let descriptor = descriptor
        let ready = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&waiting, 1, 10_000))
            }
        }
        try #require(ready == 1, "a client connects")
    }

    /// Ends all connections.
    deinit {
        close(descriptor)
        unlink(path)
    }
}
