package import Foundation

/// Returns a connection to the Unix socket at `path`.
package func connectUnix(_ path: String) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
        throw SystemCallFailure(path, ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return try connected(AF_UNIX, to: &address)
}

/// Returns a connection to a TCP port of this machine.
package func connectLoopback(port: Int) throws -> Int32 {
    var address = loopback(port: port)
    return try connected(AF_INET, to: &address)
}

/// Returns a port for `kind` (`SOCK_STREAM`, `SOCK_DGRAM`) that was free a moment ago.
///
/// Linux gives ports from 32768 on to outgoing connections (ip_local_port_range), so none of these takes the port meanwhile.
package func freePort(_ kind: __socket_type) throws -> Int {
    while true {
        let descriptor = socket(AF_INET, Int32(kind.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallFailure("socket") }
        defer { close(descriptor) }
        let port = Int.random(in: 20_000..<32_000)
        var address = loopback(port: port)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isBound { return port }
        guard errno == EADDRINUSE else { throw SystemCallFailure("bind") }
    }
}

/// A port of this machine on which connections are neither refused nor accepted.
package final class CrowdedPort: Sendable {
    package let port: Int
    private let descriptors: [Int32]

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        port = try bindLoopback(listener, port: 0)
        guard listen(listener, 0) == 0 else { throw SystemCallFailure("listen") }
        // The kernel completes one connection more than the backlog allows, and leaves the others pending.
        descriptors = [listener, try connectLoopback(port: port)]
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Returns once a client tries to connect.
    package func waitForConnecting(within seconds: Double = 10) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        let remote = String(format: "0100007F:%04X 02", port)  // SYN_SENT (proc_pid_net(5))
        // Foundation reads only the first page of this file.
        while !String(decoding: try await Tool.run("cat", "/proc/net/tcp"), as: UTF8.self).contains(remote) {
            guard ContinuousClock.now < end else { throw SystemCallFailure("a connection to \(port)", ETIMEDOUT) }
        }
    }
}

/// Writes all of `text` to a connection.
package func sendAll(_ descriptor: Int32, _ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { throw SystemCallFailure("send") }
        rest = rest.dropFirst(count)
    }
}

private func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
}

private func connected<Address>(_ family: Int32, to address: inout Address) throws -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemCallFailure("socket") }
    let code = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
        }
    }
    guard code == 0 else {
        let failure = SystemCallFailure("connect")
        close(descriptor)
        throw failure
    }
    return descriptor
}
