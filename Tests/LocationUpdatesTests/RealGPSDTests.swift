import BackgrounderAPI
import Dispatch
import Foundation
import LocationUpdates
import Synchronization
import TestSupport
import Testing

/// With the gpsd of this machine, fed with NMEA over UDP.
@Suite struct RealGPSDTests {
    @Test("The fixes of a real gpsd become points, each once and where the receiver was")
    func path() async throws {
        let ports = try FreePorts()
        let gpsd = try ChildProcess(gpsdPath, ports.arguments)
        let feed = NMEAFeed(port: ports.feed)
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        let status = try await rig.wait(for: "40 points") { $0.accepted >= 40 && $0.quality == .ok }
        feed.stop()
        try await rig.shutDown()
        try verify(await rig.journal.points)
        #expect(status.received == status.accepted + status.rejected.total)
        #expect(status.lastFix?.accuracySource == .model && status.lastFix?.mode == 3)
        #expect(abs((status.lastFix?.horizontalAccuracy ?? 0) - 19 / 1.731) < 0.01)
        withExtendedLifetime(gpsd) {}
    }

    @Test("The track goes on after gpsd was killed and started again, with no point twice")
    func restart() async throws {
        let ports = try FreePorts()
        let gpsd = try ChildProcess(gpsdPath, ports.arguments)
        let feed = NMEAFeed(port: ports.feed)
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        try await rig.wait(for: "20 points") { $0.accepted >= 20 }
        gpsd.end()
        let lost = try await rig.wait(for: "loss", within: 30) { $0.quality == .disconnected }
        let again = try ChildProcess(gpsdPath, ports.arguments)
        let began = ContinuousClock.now
        let back = try await rig.wait(for: "20 more points") { $0.accepted >= lost.accepted + 20 && $0.quality == .ok }
        #expect(ContinuousClock.now - began < .seconds(20))
        feed.stop()
        try await rig.shutDown()
        try verify(await rig.journal.points)
        #expect(back.received == back.accepted + back.rejected.total)
        withExtendedLifetime(again) {}
    }

    @Test("A stopped gpsd is silent, and tracking goes on when it continues")
    func stopped() async throws {
        let ports = try FreePorts()
        let gpsd = try ChildProcess(gpsdPath, ports.arguments)
        let feed = NMEAFeed(port: ports.feed)
        let rig = try await LocationRig("gpsd://127.0.0.1:\(ports.control)")
        try await rig.wait(for: "10 points") { $0.accepted >= 10 && $0.quality == .ok }
        gpsd.send(SIGSTOP)
        let silent = try await rig.wait(for: "silence", within: 30) { $0.quality == .silent }
        #expect(silent.connection == .connected)
        gpsd.send(SIGCONT)
        try await rig.wait(for: "10 more points") { $0.accepted >= silent.accepted + 10 && $0.quality == .ok }
        feed.stop()
        try await rig.shutDown()
        try verify(await rig.journal.points)
    }

    /// Every point is one that the feed sent, and none comes twice.
    private func verify(_ points: [Location]) throws {
        for (earlier, later) in zip(points, points.dropFirst()) { #expect(later.timestamp > earlier.timestamp) }
        for point in points {
            let epoch = point.timestamp.timeIntervalSince(NMEAFeed.start)
            #expect(abs(point.latitude - NMEAFeed.latitude(epoch)) < 2e-7, "epoch \(epoch)")
            #expect(abs(point.longitude - 11.5) < 1e-9)
        }
        #expect(points.first?.segmentStart == true)
    }
}

/// Debian puts it where a user's PATH does not look.
private let gpsdPath = "/usr/sbin/gpsd"

/// Two ports that nobody used a moment ago.
private struct FreePorts {
    let control: Int
    let feed: Int

    init() throws {
        let stream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        control = try bindLoopback(stream, port: 0)
        feed = try bindLoopback(datagram, port: 0)
        close(stream)
        close(datagram)
    }

    var arguments: [String] { ["-N", "-n", "-S", "\(control)", "udp://127.0.0.1:\(feed)"] }
}

/// A receiver that goes north at 10 m/s and says so 20 times a second, each time a second later.
private final class NMEAFeed {
    static let start = Date(timeIntervalSince1970: 1_795_000_000)
    private let timer: any DispatchSourceTimer
    private let descriptor: Int32

    static func latitude(_ epoch: Double) -> Double { 48 + epoch * 10 / metresPerDegree }

    init(port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        self.descriptor = descriptor
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "feed"))
        self.timer = timer
        let epoch = Mutex(0)
        timer.schedule(deadline: .now(), repeating: .milliseconds(50))
        timer.setEventHandler {
            let now = epoch.withLock { epoch in
                epoch += 1
                return epoch
            }
            let text = Self.sentences(Double(now))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            _ = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, text, text.utf8.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        timer.resume()
    }

    deinit {
        stop()
        close(descriptor)
    }

    func stop() { timer.cancel() }

    private static func sentences(_ epoch: Double) -> String {
        let when = start.addingTimeInterval(epoch).formatted(.iso8601)
        let digits = when.filter(\.isNumber)
        let clock = "\(digits.suffix(6)).00"
        let date = "\(digits.dropFirst(6).prefix(2))\(digits.dropFirst(4).prefix(2))\(digits.dropFirst(2).prefix(2))"
        let minutes = (latitude(epoch) - 48) * 60
        let place = String(format: "48%010.7f,N,01130.0000000,E", minutes)
        return [
            "GPRMC,\(clock),A,\(place),19.438,0.0,\(date),,,A",
            "GPGGA,\(clock),\(place),1,08,1.00,500.0,M,47.0,M,,",
            "GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.50,1.00,1.20",
        ].map { body in
            let sum = body.utf8.reduce(UInt8(0), ^)
            return "$\(body)*\(String(format: "%02X", sum))\r\n"
        }.joined()
    }
}
