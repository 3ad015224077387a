import Glibc

/// Announces that the service is ready, on the pipe of `backgrounder start` and to systemd.
enum Readiness {
    /// Announces readiness.
    ///
    /// - Parameter descriptor: the pipe, which is closed.
    static func announce(to descriptor: CInt?, environment: [String: String]) {
        notifySystemd("READY=1", environment: environment)
        guard let descriptor else { return }
        _ = "ready\n".withCString { write(descriptor, $0, strlen($0)) }
        close(descriptor)
    }

    /// Sends `message` as in sd_notify(3): one datagram to the socket that the environment names.
    static func notifySystemd(_ message: String, environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.utf8.count < 108, path.hasPrefix("/") || path.hasPrefix("@")
        else { return }
        let socket = Glibc.socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            if path.hasPrefix("@") { target[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = message.withCString { sendto(socket, $0, strlen($0), CInt(MSG_NOSIGNAL), pointer, length) }
            }
        }
    }
}
