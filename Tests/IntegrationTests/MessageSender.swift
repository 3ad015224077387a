import Foundation
import TestSupport

/// An MQTT sender with QoS 1 that stays connected.
final class MessageSender: Sendable {
    let id = "sender"
    private let process: ForegroundProcess
    private let input: Int32

    init(to port: Int) throws {
        let pipe = try PipeEnds()
        process = try ForegroundProcess(
            "/usr/bin/mosquitto_pub",
            ["-h", "localhost", "-p", "\(port)", "-q", "1", "-t", "t", "-i", id, "-l"],
            descriptors: [0: pipe.readEnd]
        )
        close(pipe.readEnd)
        input = pipe.writeEnd
    }

    deinit { close(input) }

    func send(_ message: String) throws { try sendAll(input, message + "\n") }
}
