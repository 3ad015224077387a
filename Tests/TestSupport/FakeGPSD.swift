import Foundation
import Synchronization

/// A fake gpsd that sends the reports of a test.
package final class FakeGPSD: Sendable {
    package let port: Int
    private let listener: Int32
    private let signal = Signal()
    private let clients = Mutex<[Client]>([])
    private let isListening = Mutex(true)
    /// The number of dropped connections, or `nil` while connections are kept.
    private let drops = Mutex<Int?>(nil)

    package init(port: Int = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        self.listener = listener
        self.port = try bindLoopback(listener, port: port)
        guard listen(listener, 8) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [weak self] in
            // Only this thread closes it: the number may be reused immediately, and `accept` would use that socket.
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

    /// Returns the next connection once it has requested reports.
    package func client(within seconds: Double = 60) async throws -> Client {
        let client = try await signal.wait(for: "connection to the fake gpsd", within: seconds) {
            clients.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
        let request = await client.nextRequest()
        client.text.withLock { $0 = request }
        return client
    }

    /// From now on accepts connections only to close them.
    package func dropNewClients() { drops.withLock { $0 = 0 } }

    /// Returns once `count` connections were dropped since ``dropNewClients()``.
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
        /// The first request of the client.
        package var request: String { text.withLock { $0 } }

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        /// Waits for the next request of the client that begins with `beginning`, without its line end. Returns an
        /// empty string at the end of the connection.
        ///
        /// After a pause, gpsd is also asked for its receivers, between two requests that a test expects.
        package func nextRequest(beginning: String = "?") async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    var line: [UInt8] = []
                    var byte: UInt8 = 0
                    while recv(descriptor, &byte, 1, 0) == 1 {
                        if byte != UInt8(ascii: "\n") {
                            line.append(byte)
                            continue
                        }
                        let request = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
                        if request.hasPrefix(beginning) {
                            continuation.resume(returning: request)
                            return
                        }
                        line = []
                    }
                    continuation.resume(returning: "")
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

        /// Ends the connection as a stopping gpsd does.
        package func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}

/// Binds to `port` of the loopback interface, or to a free port for 0, and returns the port.
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
