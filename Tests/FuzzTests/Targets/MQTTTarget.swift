import BackgrounderAPI
import FoundationEssentials
import Glibc

@testable import MQTTClient
@testable import SilentPush

/// A broker that sends the bytes and then nothing more. The connection must end with a failure; messages are parsed.
final class MQTTTarget: Sendable {
    static let shared = MQTTTarget()

    private let listener: CInt
    private let push: StoredPush

    private init() {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                precondition(bind(listener, address, size) == 0 && listen(listener, 8) == 0)
                precondition(getsockname(listener, address, &size) == 0)
            }
        }
        do {
            push = StoredPush(
                name: "fuzz",
                address: try BrokerAddress("mqtt://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"),
                topic: try TopicFilter("fuzz/#"),
                clientID: "fuzz"
            )
        } catch {
            preconditionFailure("\(error)")
        }
    }

    func run(_ bytes: [UInt8]) {
        do {
            let control = try MQTTControl { messages, before in
                if let failure = await before() { return failure }
                for payload in messages.compactMap(\.payload) {
                    _ = try? PushMessage(payload, now: Date(timeIntervalSince1970: 1_700_000_000))
                }
                return nil
            } report: { _ in
            }
            var options = push.options
            // Messages are read one by one, or many together.
            options.batch = bytes.count.isMultiple(of: 2) ? 1 : 40
            let connection = try MQTTConnection(options, from: nil, control: control)
            let broker = accept(listener, nil, nil)
            precondition(broker >= 0)
            // Reset on close, so that thousands of connections leave no sockets behind.
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(broker, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
            _ = send(broker, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            shutdown(broker, CInt(SHUT_WR))
            do throws(MQTTFailure) {
                try connection.run()
                preconditionFailure("the connection ended without a failure")
            } catch {
                precondition(!"\(error)".isEmpty)
            }
            withExtendedLifetime(connection) { _ = close(broker) }
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
