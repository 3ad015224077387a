import Foundation
import Synchronization
import TestSupport

/// A proxy between the service and a gpsd that corrupts gpsd's lines on request.
final class GarblingProxy: Sendable {
    /// The corruption of gpsd's next line.
    enum Garbling: CaseIterable, Sendable {
        /// Passes on the first half and a newline.
        case truncated
        /// Passes it on twice without a newline in between.
        case joined
        case nulBytes, oddLines, hundredKilobytes
        /// Passes on the first half, and the rest after 2 s.
        case stalled
        /// Passes on the first half and closes the connection.
        case cutOff
    }

    let port: Int
    private let target: Int
    private let listener: Int32
    private let next = Mutex<[Garbling]>([])
    private static let oddLines = [
        "{\"class\":\"TPV\",\"mode\":3,\"time\":\"bogus\",\"lat\":1.0,\"lon\":2.0,\"eph\":5}",
        "{\"class\":\"TPV\",\"mode\":99,\"time\":\"2026-11-21T00:00:00Z\",\"lat\":1e400,\"lon\":400}",
        "{ \"class\":\"TPV\",\"mode\":3,\"time\":\"2026-11-21T00:00:00Z\",\"lat\":1.0,\"lon\":2.0,\"eph\":5}",
        "{\"class\":\"SKY\",\"hdop\":", "{\"class\":\"ERROR\",\"message\":\"x\"}", "}{", "",
    ]

    /// Listens and connects each client to the gpsd at port `target`.
    init(to target: Int) throws {
        self.target = target
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        port = try bindLoopback(listener, port: 0)
        guard listen(listener, 8) == 0 else { throw SystemCallFailure("listen") }
        Thread.detachNewThread { [weak self] in
            defer { close(listener) }
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    return
                }
                serve(client)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var source: String { "gpsd://127.0.0.1:\(port)" }

    func garble(_ kind: Garbling) { next.withLock { $0.append(kind) } }

    private func serve(_ client: Int32) {
        guard let gpsd = try? connectLoopback(port: target) else {
            close(client)
            return
        }
        // Each thread has descriptors of its own, so that neither uses a number that the other closed.
        let (ownClient, ownGPSD) = (dup(client), dup(gpsd))
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(ownClient, &buffer, buffer.count), count > 0 {
                guard Self.send(ownGPSD, buffer[..<count]) else { break }
            }
            shutdown(ownGPSD, Int32(SHUT_RDWR))
            close(ownClient)
            close(ownGPSD)
        }
        Thread.detachNewThread { [weak self] in
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            reading: while case let count = read(gpsd, &buffer, buffer.count), count > 0 {
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: 0x0A) {
                    let line = Array(rest[...end])
                    rest.removeSubrange(...end)
                    guard self?.pass(line, to: client) == true else { break reading }
                }
            }
            shutdown(client, Int32(SHUT_RDWR))
            close(client)
            close(gpsd)
        }
    }

    /// Passes on `line`, corrupted if asked.
    ///
    /// - Returns: whether to keep the connection.
    private func pass(_ line: [UInt8], to client: Int32) -> Bool {
        let half = line.prefix(line.count / 2)
        switch next.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        case nil: return Self.send(client, line)
        case .truncated: return Self.send(client, half + [0x0A])
        case .joined: return Self.send(client, line.filter { $0 != 0x0A && $0 != 0x0D } + line)
        case .nulBytes: return Self.send(client, half + [0, 0, 0] + line[half.endIndex...])
        case .oddLines: return Self.send(client, Array(Self.oddLines.joined(separator: "\r\n").utf8) + [0x0A] + line)
        case .hundredKilobytes:
            return Self.send(client, [UInt8](repeating: 0x78, count: 100_000) + [0x0A] + line)
        case .stalled:
            guard Self.send(client, half) else { return false }
            Thread.sleep(forTimeInterval: 2)
            return Self.send(client, line[half.endIndex...])
        case .cutOff:
            _ = Self.send(client, half)
            return false
        }
    }

    private static func send(_ descriptor: Int32, _ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
