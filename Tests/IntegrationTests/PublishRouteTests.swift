import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Publishing over a network that comes back, in network namespaces.
@Suite(.sharing) struct PublishRouteTests {
    @Test func `a new default route is used immediately, without waiting for the next attempt`() async throws {
        var configuration = TestConfiguration(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        // Eight, so that not all of them can have their next attempt soon by chance.
        let brokers = (1...4).flatMap {
            [
                #"b\#($0): {mqtt: "mqtt://203.0.113.7", machine: m\#($0)}"#,
                #"s\#($0): {http: "http://203.0.113.7/", machine: m}"#,
            ]
        }
        configuration.rest = [
            "transfers: {allowHTTP: [203.0.113.7]}",
            "publish: {startWithin: 0s, brokers: {\(brokers.joined(separator: ", "))}}",
        ]
        let service = try Service(configuration)
        let settings = service.file("mosquitto.conf")
        try service.scratch.write("listener 1883 203.0.113.7\nallow_anonymous true\n", to: "mosquitto.conf")
        try service.scratch.write(
            """
            import http.server
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["Content-Length"]))
                    self.send_response(204)
                    self.end_headers()
            http.server.ThreadingHTTPServer(("203.0.113.7", 80), Handler).serve_forever()
            """,
            to: "server.py"
        )
        // The broker and the server are in another namespace, at the other end of a link without a default route.
        let script = """
            ip link set lo up; ip link add d0 type veth peer name d1
            ip addr add 198.51.100.1/24 dev d0; ip link set d0 up
            unshare -n sh -ec 'touch "$0/apart"
                until ip link show d1 > "$0/link" 2>&1; do sleep 0.02; done
                ip link set lo up; ip addr add 203.0.113.7/32 dev lo
                ip addr add 198.51.100.2/24 dev d1; ip link set d1 up
                python3 "$0/server.py" 2> "$0/requests" &
                exec mosquitto -c "$0/mosquitto.conf" 2> "$0/log"' '\(service.file("."))' &
            until [ -e '\(service.file("apart"))' ]; do sleep 0.02; done
            ip link set d1 netns $!
            """
        let process = try await service.start(unsharing: ["-n"], after: script)
        defer {
            for file in [settings, service.file("server.py")] {
                ProcessSearch.running(with: file).forEach { kill($0, SIGKILL) }
            }
        }
        func publishers() async throws -> [PublisherStatus] { try await service.json("publish", "list") }
        // The delays before attempts are up to 4 s by then.
        try await Task.sleep(for: .seconds(10))
        for publisher in try await publishers() {
            #expect(publisher.state == .waiting)
            #expect(
                publisher.why?.contains("network") == true || publisher.why?.contains("Network") == true,
                "\(publisher)"
            )
        }
        let nsenter = ["-t", "\(process.pid)", "-n", "ip", "route", "add", "default", "via", "198.51.100.2"]
        let run = try await ProgramRun.of("/usr/bin/nsenter", nsenter)
        #expect(run.exitCode == 0, "\(run)")
        let began = MonotonicTime.now
        var states: [PublisherState] = []
        while states.contains(where: { $0 != .connected }) || states.isEmpty, began.duration(to: .now) < .seconds(60) {
            states = try await publishers().map(\.state)
        }
        #expect(began.duration(to: .now) < .seconds(1.5))
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }

    @Test func `a new default route does not shorten the wait that a server asks for`() async throws {
        var configuration = TestConfiguration(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        configuration.rest = [
            "transfers: {allowHTTP: [127.0.0.1]}",
            #"publish: {startWithin: 0s, brokers: {office: {http: "http://127.0.0.1/", machine: m}}}"#,
        ]
        let service = try Service(configuration)
        try service.scratch.write(
            """
            import http.server, time
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    self.rfile.read(int(self.headers["Content-Length"]))
                    print(time.monotonic(), flush=True)
                    self.send_response(503)
                    self.send_header("Retry-After", "4")
                    self.end_headers()
                def log_message(self, *_): pass
            http.server.ThreadingHTTPServer(("127.0.0.1", 80), Handler).serve_forever()
            """,
            to: "server.py"
        )
        let server = service.file("server.py")
        let script = """
            ip link set lo up; ip link add d0 type veth peer name d1; ip link set d1 up
            ip addr add 198.51.100.1/24 dev d0; ip link set d0 up
            python3 '\(server)' > '\(service.file("times"))' &
            """
        let process = try await service.start(unsharing: ["-n"], after: script)
        defer { ProcessSearch.running(with: server).forEach { kill($0, SIGKILL) } }
        func times() -> [Double] {
            let text = try? String(contentsOfFile: service.file("times"), encoding: .utf8)
            return text?.split(separator: "\n").compactMap { Double($0) } ?? []
        }
        func wait(forRequests count: Int) async throws {
            for _ in 0..<600 where times().count < count { try await Task.sleep(for: .milliseconds(50)) }
        }
        try await wait(forRequests: 1)
        try await service.wait(forPublisher: "the refusal") { $0.why == "the server cannot take points now (503)" }
        let nsenter = ["-t", "\(process.pid)", "-n", "ip", "route", "add", "default", "via", "198.51.100.2"]
        let run = try await ProgramRun.of("/usr/bin/nsenter", nsenter)
        #expect(run.exitCode == 0, "\(run)")
        try await wait(forRequests: 2)
        let requests = times()
        try #require(requests.count >= 2)
        #expect(requests[1] - requests[0] > 3.9)
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }
}
