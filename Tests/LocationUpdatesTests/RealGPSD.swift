import BackgrounderAPI
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

/// Two ports that are free at the moment: one for gpsd itself, and a UDP port to which a receiver sends.
struct FreePorts {
    let control: Int
    let feed: Int

    init() throws {
        control = try freePort(SOCK_STREAM)
        feed = try freePort(SOCK_DGRAM)
    }

    /// Starts a gpsd that reads `devices`, or the receiver on UDP if there are none.
    func startGPSD(_ devices: [String] = []) throws -> ChildProcess {
        let devices = devices.isEmpty ? ["udp://127.0.0.1:\(feed)"] : devices
        // Debian installs it outside a user's PATH.
        return try ChildProcess("/usr/sbin/gpsd", ["-N", "-n", "-S", "\(control)"] + devices)
    }
}

/// A pseudoterminal that gpsd uses as a serial receiver; the last reference unplugs it.
final class PseudoTerminal: Sendable {
    let path: String
    private let descriptor: Int32
    /// The other side. While it is open, no other terminal gets the name, which gpsd keeps trying.
    private let slave: Int32
    private let isOpen = Mutex(true)

    init() throws {
        // posix_openpt(3), unlockpt(3) and ptsname(3) are not in Swift's Glibc module; these are the calls that they make.
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var (number, lock) = (Int32(-1), Int32(0))
        guard descriptor >= 0, ioctl(descriptor, UInt(0x4004_5431), &lock) == 0,  // TIOCSPTLCK
            ioctl(descriptor, UInt(0x8004_5430), &number) == 0  // TIOCGPTN
        else { throw SystemCallFailure("/dev/ptmx") }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw SystemCallFailure(path) }
        // gpsd drops its privileges before it reopens a device.
        guard chmod(path, 0o666) == 0 else { throw SystemCallFailure("chmod \(path)") }
        var settings = termios()
        tcgetattr(descriptor, &settings)
        cfmakeraw(&settings)
        tcsetattr(descriptor, TCSANOW, &settings)
    }

    deinit {
        unplug()
        close(slave)
    }

    func unplug() {
        isOpen.withLock { isOpen in
            if isOpen { close(descriptor) }
            isOpen = false
        }
    }

    func write(_ text: String) {
        isOpen.withLock { if $0 { _ = Foundation.write(descriptor, text, text.utf8.count) } }
    }
}

/// A receiver that moves north at 10 m/s and reports `rate` times a second, each report one second of GPS time later.
final class NMEAFeed {
    enum Way {
        case udp(Int)
        case terminal(PseudoTerminal)
    }

    static let start = Date(timeIntervalSince1970: 1_795_000_000)
    private let timer: any DispatchSourceTimer
    private let longitude: Int

    /// Creates a receiver that moves along the meridian half a degree east of `longitude`.
    init(to way: Way, rate: Double = 20, longitude: Int = 11) {
        self.longitude = longitude
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "feed"))
        self.timer = timer
        let epoch = Mutex(0)
        let udp = UDPSender()
        timer.schedule(deadline: .now(), repeating: 1 / rate)
        timer.setEventHandler {
            let now = epoch.withLock { epoch in
                epoch += 1
                return epoch
            }
            let text = Self.sentences(Double(now), longitude)
            switch way {
            case .udp(let port): udp.send(text, to: port)
            case .terminal(let terminal): terminal.write(text)
            }
        }
        timer.resume()
    }

    deinit { stop() }

    func stop() { timer.cancel() }

    /// Expects that this feed sent every one of `points` and that none repeats.
    func verify(_ points: [Location], sourceLocation: SourceLocation = #_sourceLocation) {
        for (earlier, later) in zip(points, points.dropFirst()) {
            #expect(later.timestamp > earlier.timestamp, sourceLocation: sourceLocation)
        }
        for point in points {
            let epoch = point.timestamp.timeIntervalSince(Self.start)
            #expect(
                abs(point.latitude - Self.latitude(epoch)) < 2e-7,
                "epoch \(epoch): \(point)",
                sourceLocation: sourceLocation
            )
            #expect(
                sent(point),
                "epoch \(epoch): \(point)",
                sourceLocation: sourceLocation
            )
        }
        #expect(points.first?.segmentStart == true, sourceLocation: sourceLocation)
    }

    /// Whether this receiver, and not another one, sent `point`.
    func sent(_ point: Location) -> Bool { abs(point.longitude - Double(longitude) - 0.5) < 1e-9 }

    private static func latitude(_ epoch: Double) -> Double { 48 + epoch * 10 / metresPerDegree }

    private static func sentences(_ epoch: Double, _ longitude: Int) -> String {
        let when = start.addingTimeInterval(epoch).formatted(.iso8601)
        let digits = when.filter(\.isNumber)
        let clock = "\(digits.suffix(6)).00"
        let date = "\(digits.dropFirst(6).prefix(2))\(digits.dropFirst(4).prefix(2))\(digits.dropFirst(2).prefix(2))"
        let (degrees, minutes) = (Int(latitude(epoch)), latitude(epoch).truncatingRemainder(dividingBy: 1) * 60)
        let place = String(format: "%02d%010.7f,N,%03d30.0000000,E", degrees, minutes, longitude)
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

private final class UDPSender: Sendable {
    private let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)

    deinit { close(descriptor) }

    func send(_ text: String, to port: Int) {
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
}
