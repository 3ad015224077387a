import Foundation
import TestSupport

/// A gpsd for one test, with a receiver that sends a track over UDP.
final class Receiver: Sendable {
    let port: Int
    private let feedPort: Int

    init() throws {
        port = try freePort(SOCK_STREAM)
        feedPort = try freePort(SOCK_DGRAM)
    }

    var source: String { "gpsd://127.0.0.1:\(port)" }

    /// Starts a gpsd; the next one uses the same ports after this one has ended.
    func startGPSD() throws -> ForegroundProcess {
        let arguments = ["-N", "-n", "-S", "\(port)", "udp://127.0.0.1:\(feedPort)"]
        return try ForegroundProcess(Programs.gpsd, arguments)
    }

    /// Returns everything that gpsd sends from now on to another client; gpsd must be listening.
    func record() async throws -> LineReader {
        let descriptor = try connectLoopback(port: port)
        try sendAll(descriptor, "?WATCH={\"enable\":true,\"json\":true};\n")
        let reader = LineReader(descriptor)
        try await reader.wait(for: "gpsd's answer") { lines, _ in
            lines.contains { $0.hasPrefix("{\"class\":\"WATCH\"") } ? true : nil
        }
        return reader
    }

    /// Starts a receiver that reports twice a second that it has no fix.
    func feedWithoutFix() throws -> ForegroundProcess {
        let script = """
            import functools, operator, socket, sys, time
            def sentence(body): return "$%s*%02X\\r\\n" % (body, functools.reduce(operator.xor, body.encode()))
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            second = 0
            while True:
                second += 1
                clock = "12%02d%02d.00" % (second // 60 % 60, second % 60)
                text = sentence("GPRMC,%s,V,,,,,,,231126,,,N" % clock) + sentence("GPGGA,%s,,,,,0,00,99.99,,,,,," % clock)
                text += sentence("GPGSA,A,1,,,,,,,,,,,,,99.99,99.99,99.99")
                out.sendto(text.encode(), ("127.0.0.1", int(sys.argv[1])))
                time.sleep(0.5)
            """
        return try ForegroundProcess(Programs.python, ["-c", script, "\(feedPort)"])
    }

    /// Starts sending `track` with options of nmea_feed.py.
    func feed(_ track: String, _ options: String...) throws -> Feed {
        try Feed(port: feedPort, track: track, options: options)
    }
}

/// A track that is being sent to gpsd.
final class Feed: Sendable {
    /// A sent epoch: its time as gpsd prints it, its place with 8 decimals.
    struct Epoch: Hashable, Sendable {
        var time: String
        var place: String
    }

    private let process: ForegroundProcess
    private let output: LineReader

    init(port: Int, track: String, options: [String]) throws {
        let pipe = try PipeEnds()
        let script = Products.repository("Tests/Reference/nmea_feed.py")
        process = try ForegroundProcess(
            Programs.python,
            [script, "udp", "127.0.0.1", "\(port)", track, "--now", "--verbose"] + options,
            descriptors: [1: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        output = LineReader(pipe.readEnd)
    }

    /// Returns all epochs after the last one was sent.
    func waitForEnd(within seconds: Double = 60) async throws -> [Epoch] {
        try await output.wait(for: "end of the feed", within: seconds) { lines, isAtEnd in
            isAtEnd ? Self.epochs(lines) : nil
        }
    }

    func stop() { process.kill() }

    /// Stops the feed and returns all epochs that were sent.
    func stopped() async throws -> [Epoch] {
        stop()
        return try await waitForEnd()
    }

    private static func epochs(_ lines: [String]) -> [Epoch] {
        lines.map { line in
            let fields = line.split(separator: " ", maxSplits: 2).map(String.init)
            return Epoch(time: fields[1], place: fields[2])
        }
    }
}
