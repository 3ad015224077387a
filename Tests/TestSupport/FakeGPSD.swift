import Foundation
import Synchronization

/// A server that says what a test wants gpsd to say.
package final class FakeGPSD: Sendable {
    package let port: Int
    private let listener: Int32
    private let signal = Signal()
    private let clients = Mutex<[Client]>([])
    private let isListening = Mutex(true)
    /// How many connections were ended, where they are taken only for that.
    private let drops = Mutex<Int?>(nil)

    package init(port: Int = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        self.listener = listener
        self.port = try bindLoopback(listener, port: port)
        guard listen(listener, 8) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [weak self] in
            // Closed here alone: the number may be another's at once, whose connections would be taken.
            defer { close(listener) }
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                guard let self else {
                    close(descriptor)
                    return
                }
                if drops.withLock({ $0 == nil }) {
                    clients.withLock { $0.append(Client(descriptor)) }
                } else {
                    close(descriptor)
                    drops.withLock { $0? += 1 }
                }
                signal.post()
            }
        }
    }

    deinit { stopListening() }

    /// The next connection, once it has asked for reports.
    package func client(within seconds: Double = 60) async throws -> Client {
        let client = try await signal.wait(for: "connection to the fake gpsd", within: seconds) {
            clients.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
        let request = await client.nextRequest()
        client.text.withLock { $0 = request }
        return client
    }

    /// Takes connections from now on only to end them.
    package func dropNewClients() { drops.withLock { $0 = 0 } }

    /// Returns when so many connections were ended since ``dropNewClients()``.
    package func waitForDrops(_ count: Int) async throws {
        try await signal.wait(for: "\(count) connections to drop") { drops.withLock { $0 ?? 0 } >= count ? () : nil }
    }

    package var hasClient: Bool { clients.withLock { !$0.isEmpty } }

    /// Refuses new connections.
    package func stopListening() {
        isListening.withLock { isListening in
            guard isListening else { return }
            isListening = false
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    package final class Client: Sendable {
        private let descriptor: Int32
        fileprivate let text = Mutex("")
        /// What it said first.
        package var request: String { text.withLock { $0 } }

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// What the client says next; waits for it, and is empty at its end.
        package func nextRequest() async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    continuation.resume(returning: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
                }
            }
        }

        package func send(_ bytes: some Sequence<UInt8>) {
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        package func send(line: String) { send("\(line)\r\n".utf8) }

        /// Ends the connection as a gpsd does that ends.
        package func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}

/// Binds to `port` of the loopback, or to a free one for 0, and returns which.
package func bindLoopback(_ descriptor: Int32, port: Int) throws -> Int {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
        }
    }
    guard result else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return Int(in_port_t(bigEndian: address.sin_port))
}
