import Foundation
import Synchronization
import TestSupport

/// A server that says what a test wants gpsd to say.
final class FakeGPSD: Sendable {
    let port: Int
    private let listener: Int32
    private let signal = Signal()
    private let clients = Mutex<[Client]>([])
    private let isListening = Mutex(true)

    init(port: Int = 0) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        self.listener = listener
        self.port = try bindLoopback(listener, port: port)
        guard listen(listener, 8) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [weak self] in
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                guard let self else {
                    close(descriptor)
                    return
                }
                clients.withLock { $0.append(Client(descriptor)) }
                signal.post()
            }
        }
    }

    deinit { stopListening() }

    /// The next connection, once it has asked for reports.
    func client(within seconds: Double = 60) async throws -> Client {
        let client = try await signal.wait(for: "connection to the fake gpsd", within: seconds) {
            clients.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
        client.readRequest()
        return client
    }

    var hasClient: Bool { clients.withLock { !$0.isEmpty } }

    /// Refuses new connections.
    func stopListening() {
        isListening.withLock { isListening in
            guard isListening else { return }
            isListening = false
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
    }

    final class Client: Sendable {
        private let descriptor: Int32
        private let text = Mutex("")
        var request: String { text.withLock { $0 } }

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit { close(descriptor) }

        fileprivate func readRequest() {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            text.withLock { $0 = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) }
        }

        func send(_ bytes: some Sequence<UInt8>) {
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        func send(line: String) { send("\(line)\r\n".utf8) }

        /// Whether the other side has closed the connection; waits for its next word or its end.
        var isAtEnd: Bool {
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, 0) <= 0
        }

        /// Ends the connection as a gpsd does that ends.
        func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}

/// Binds to `port` of the loopback, or to a free one for 0, and returns which.
func bindLoopback(_ descriptor: Int32, port: Int) throws -> Int {
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

/// A report as gpsd writes it: `second` after a fixed start, `metres` to the north of a fixed place.
func tpv(at second: Int, metres: Double = 0, device: String = "/dev/gps0", eph: Double? = 5, mode: Int = 3) -> String {
    let when = Date(timeIntervalSince1970: 1_700_000_000 + Double(second)).formatted(.iso8601)
    let place = mode < 2 ? "" : ",\"lat\":\(48 + metres / metresPerDegree),\"lon\":11.0,\"altMSL\":500.0"
    let error = eph.map { ",\"eph\":\($0)" } ?? ""
    return
        "{\"class\":\"TPV\",\"device\":\"\(device)\",\"mode\":\(mode),\"time\":\"\(when)\"\(place)\(error),\"speed\":1.000}"
}
