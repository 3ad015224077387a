import NIOCore
import Testing

@testable import WebSupport

@Suite struct AddressScopeTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9",
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1",
        "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::192.168.1.1", "fc00::1", "fdff::1", "fe80::1",
        "febf::1", "fec0::1",
    ])
    func `addresses of this machine and of private networks are local`(address: String) throws {
        #expect(AddressScope(try SocketAddress(ipAddress: address, port: 80)) == .local)
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
        "169.253.0.1", "172.15.255.255", "172.32.0.0", "192.167.0.1", "192.169.0.1", "203.0.113.7", "::ffff:1.1.1.1",
        "64:ff9b::1.1.1.1", "64:ff9b:1::a00:1", "2001:db8::1", "2606:4700::1111", "fbff::1", "ff02::1",
    ])
    func `addresses of the Internet are global`(address: String) throws {
        #expect(AddressScope(try SocketAddress(ipAddress: address, port: 80)) == .global)
    }

    @Test func `a route may lead to local addresses for the user, a local server and allowed hosts`() throws {
        let policy = RedirectPolicy(plainHosts: [], localHosts: ["nas.example:8080"])
        let url = try WebURL("https://a.example/")
        var route = try WebRoute(to: url, policy, nil)
        #expect(route.mayBeLocal)
        try route.follow("/b", from: .global)
        #expect(!route.mayBeLocal)
        try route.follow("https://nas.example:8080/", from: .global)
        #expect(route.mayBeLocal)
        try route.follow("https://nas.example/", from: .global)
        #expect(!route.mayBeLocal)
        try route.follow("https://c.example/", from: .local)
        #expect(route.mayBeLocal)
        #expect(try !WebRoute(to: url, policy, nil, namedBy: .server).mayBeLocal)
        #expect(try WebRoute(to: WebURL("https://nas.example:8080/"), policy, nil, namedBy: .server).mayBeLocal)
    }
}
