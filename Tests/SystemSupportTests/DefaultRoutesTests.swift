import TestSupport
import Testing

@testable import SystemSupport

/// The default routes in lists of the kernel.
@Suite struct DefaultRoutesTests {
    private let scratch: ScratchDirectory
    private static let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
    private static let zeros = String(repeating: "0", count: 32)

    init() throws { scratch = try ScratchDirectory() }

    private func routes(_ ipv4: [String] = [], _ ipv6: [String] = []) throws -> DefaultRoutes {
        let first = try scratch.write(([Self.head] + ipv4).joined(separator: "\n") + "\n", to: "route")
        let second = try scratch.write(ipv6.map { $0 + "\n" }.joined(), to: "ipv6_route")
        return DefaultRoutes(ipv4: first, ipv6: second)
    }

    private func ipv4(_ interface: String, gateway: String = "0101A8C0", metric: Int = 0) -> String {
        "\(interface)\t00000000\t\(gateway)\t0003\t0\t0\t\(metric)\t00000000\t0\t0\t0"
    }

    private func ipv6(_ interface: String, gateway: String, uses: String = "00000000") -> String {
        "\(Self.zeros) 00 \(Self.zeros) 00 \(gateway) 00000400 00000001 \(uses) 00450003 \(interface)"
    }

    @Test func `the interfaces are those with a default route, each once`() throws {
        let gateway = "fe80" + String(repeating: "0", count: 27) + "1"
        let local = "eth1\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0"
        let none = "\(Self.zeros) 00 \(Self.zeros) 00 \(Self.zeros) ffffffff 00000001 00000000 00200200       lo"
        let all = try routes(
            [ipv4("wlan0"), ipv4("eth0"), local],
            [ipv6("eth0", gateway: gateway), ipv6("wwan0", gateway: gateway), none]
        )
        #expect(all.interfaces == ["eth0", "wlan0", "wwan0"])
        #expect(try routes().interfaces == [])
        #expect(DefaultRoutes(ipv4: scratch.file("none"), ipv6: scratch.file("none")).interfaces == [])
    }

    @Test func `another gateway or metric is a change, and the use of a route is none`() throws {
        let first = try routes([ipv4("eth0")])
        #expect(try routes([ipv4("eth0")]) == first)
        #expect(try routes([ipv4("eth0", gateway: "0201A8C0")]) != first)
        #expect(try routes([ipv4("eth0", metric: 100)]) != first)
        #expect(try routes([ipv4("eth0"), ipv4("wlan0", metric: 600)]) != first)
        let second = try routes([], [ipv6("eth0", gateway: Self.zeros)])
        #expect(try routes([], [ipv6("eth0", gateway: Self.zeros, uses: "00000009")]) == second)
    }
}
