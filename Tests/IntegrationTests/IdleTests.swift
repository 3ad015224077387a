import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// The cost of a service that has little or nothing to do.
@Suite(.inRealTime) struct IdleTests {
    /// The activity before the idle time.
    enum Past: String, CaseIterable, Sendable {
        case nothing, requests, anAttachedClient, pausedItem, endedItem, finishedReplay, restartWithMusic
        /// A fetch, a transfer, a task and a message, all finished. The broker stays connected and is pinged each minute.
        case backgroundModes
        /// A page with a session that has closed its event stream.
        case hiddenPage
    }

    @Test(arguments: Past.allCases)
    func `an idle service wakes up at most 3 times a minute across all its threads`(past: Past) async throws {
        let rate = past == .finishedReplay ? "max" : "1"
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=\(rate)")
        let broker = past == .backgroundModes ? try await Mosquitto() : nil
        if broker != nil {
            try service.configure(
                TestConfiguration(
                    modes: "[fetch, remote-notification]",
                    rest: ["transfers: {roots: [downloads/], allowHTTP: [127.0.0.1]}"]
                )
            )
        }
        var pid = try await service.start()
        if past != .finishedReplay { try await service.run("location", "stop") }
        switch past {
        case .nothing: try await service.run("audio", "stop")
        case .requests:
            for _ in 1...50 { try await Self.request("/v1/status", of: service) }
        case .anAttachedClient:
            let events = try service.events(attach: true)
            try await events.wait(forState: "the first state") { _ in true }
            events.detach()
            _ = try await events.waitForEnd()
        case .pausedItem, .endedItem:
            try await service.run("queue", "add", Products.repository("media/morning-tune.mp3"))
            try await service.run("audio", "play")
            let events = try service.events(observe: "50ms")
            try await events.wait(for: "sound") { try $0.times().contains { $0.elapsed > 0.5 } ? true : nil }
            if past == .pausedItem {
                try await service.run("audio", "pause")
            } else {
                try await service.run("audio", "seek", "16")
                try await events.wait(forState: "the end") { $0.status.audio?.timeControlStatus == .stopped }
            }
            events.detach()
            _ = try await events.waitForEnd()
        case .finishedReplay: try await service.waitForEndOfTrack()
        case .backgroundModes: try await Self.useModes(of: service, broker)
        case .hiddenPage: try await Self.usePage(of: service)
        case .restartWithMusic:
            try await service.run("audio", "stop")
            try await service.run("stop")
            try await service.start(adding: ["BACKGROUNDER_AUDIO_MUSIC_DIRECTORY": Products.repository("media")])
            try await FileWatch(service.paths.log).wait(for: "Music database: 4 songs;")
            pid = try #require(service.pid)
        }
        // The service is not idle yet: it syncs the last command's changes after `store.syncInterval`.
        await pause(seconds: 3)
        // Measure up to three times: a timer would wake the process in every period, a page fault only in one.
        var readings: [[String: Int]] = []
        repeat {
            let before = ContextSwitches(of: pid)
            await pause(seconds: 40)
            readings.append(ContextSwitches(of: pid).since(before))
        } while readings.count < 3 && readings[readings.count - 1].values.reduce(0, +) > 2
        #expect(readings.contains { $0.values.reduce(0, +) <= 2 }, "40 s each: \(readings)")
        let state: ServiceStatus = try await service.json("status")
        #expect(state.state == .suspended)
        #expect(state.attached == 0)
        withExtendedLifetime(broker) {}
    }

    /// Opens the page, reads its event stream while it is attached, and closes the stream.
    private static func usePage(of service: Service) async throws {
        let control = try service.connection()
        let reply = try await control.send("POST", "/v1/web/codes", body: "{}")
        let code = try JSON.decode(PageCode.self, from: Data(reply.body))
        let body = #"{"code":"\#(code.code)"}"#
        let exchange = try await HTTPConnection(port: code.port).send("POST", "/v1/web/session", body: body)
        let token = try JSON.decode(PageToken.self, from: Data(exchange.body)).token
        let page = try HTTPConnection(port: code.port, token: token)
        try await page.begin("GET", "/v1/events?attach=1")
        #expect(try await page.head().status == 200)
        _ = try await page.chunk()
        page.socket.finishSending()
        _ = try await page.socket.receiveAll(within: 5)
    }

    /// Uses each background mode once.
    private static func useModes(of service: Service, _ broker: Mosquitto?) async throws {
        let broker = try #require(broker)
        let web = try TestWebServer()
        web.reply(to: "/feed", body: "news")
        try await service.run("fetch", "add", "web", "--url", web.url("/feed"), "--kind", "raw")
        try await service.run("fetch", "run", "web")
        try await service.run("transfer", "get", web.url("/feed"), service.scratch.file("downloads/"), "--wait")
        try await service.run("task", "begin", "short", "--", "true")
        try await service.run("push", "add", "all", "--mqtt", "mqtt://localhost:\(broker.port)", "--topic", "t")
        try await broker.publish(#"{"content-available":1,"source":"web","id":"1","alert":"News"}"#)
        try await FileWatch(service.paths.log).wait(for: "Alert: News")
    }

    @Test func `tracking one point a second syncs the disk at most once a second`() async throws {
        let (count, seconds) = try await Self.syncs(
            track: Products.repository("tracks/freeway-drive.gpx"),
            filter: "none"
        ) { $0.count("location") }
        // One sync may cover two points, if the second arrives just before it.
        #expect(Double(count) >= seconds / 2 - 2, "\(count) in \(seconds) s")
        #expect(Double(count) <= 62 * seconds / 60 + 1, "\(count) in \(seconds) s")
    }

    @Test func `points that the distance filter rejects cause no syncs`() async throws {
        let scratch = try ScratchDirectory()
        let points = (0..<60).map { number in
            let time = String(format: "2026-11-21T08:00:%02dZ", number)
            return "<trkpt lat=\"48.1\" lon=\"11.5\"><ele>500</ele><time>\(time)</time></trkpt>\n"
        }
        let head = "<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>\n"
        let track = try scratch.write(head + points.joined() + "</trkseg></trk></gpx>\n", to: "parked.gpx")
        let (count, _) = try await Self.syncs(track: track, filter: "25") { received in
            try received.states().last?.status.location?.rejected[.distance] ?? 0
        }
        #expect(count == 0)
    }

    /// Returns how often the service syncs a file while `progress` grows by 20, with one fix a second from gpsd.
    private static func syncs(
        track: String,
        filter: String,
        progress: (ReceivedEvents) throws -> Int
    ) async throws -> (count: Int, seconds: Double) {
        let receiver = try Receiver()
        let gpsd = try receiver.startGPSD()
        let service = try Service(source: receiver.source)
        let pid = try await service.start()
        try await service.run("location", "filter", filter)
        let events = try service.events()
        try await events.wait(forState: "connection") { $0.status.location?.connection == .connected }
        let feed = try receiver.feed(track, "--rate", "1")
        // By then the first point and the command before it are synced.
        try await events.wait(for: "the first fixes") { try progress($0) >= 3 ? true : nil }
        let trace = try await SyncTrace(of: pid)
        let began = ContinuousClock.now
        try await events.wait(for: "20 more fixes", within: 40) { try progress($0) >= 23 ? true : nil }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let count = try await trace.end()
        feed.stop()
        withExtendedLifetime(gpsd) {}
        return (count, seconds)
    }

    private static func request(_ path: String, of service: Service) async throws {
        let arguments = ["-sSf", "--unix-socket", service.paths.controlSocket, "http://localhost\(path)"]
        let run = try await ProgramRun.of(Programs.curl, arguments)
        try #require(run.exitCode == 0, "\(run)")
    }
}

/// The number of context switches of each thread of a process, by name and id.
struct ContextSwitches {
    private var counts: [String: Int] = [:]

    init(of pid: pid_t) {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        for thread in threads {
            let path = "/proc/\(pid)/task/\(thread)/status"
            guard let content = FileManager.default.contents(atPath: path) else { continue }
            var name = ""
            for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
                let fields = line.split(separator: "\t").map(String.init)
                switch fields.first {
                case "Name:": name = "\(fields.last ?? "") \(thread)"
                case "voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:":
                    counts[name, default: 0] += fields.last.flatMap { Int($0) } ?? 0
                default: break
                }
            }
        }
    }

    /// Returns the switches since `earlier`, without the threads that slept.
    func since(_ earlier: ContextSwitches) -> [String: Int] {
        counts
            .merging(earlier.counts.filter { counts[$0.key] != nil }) { $0 - $1 }
            .filter { $0.value != 0 }
    }
}

/// A trace of a service's system calls that sync files to the disk.
private final class SyncTrace: Sendable {
    private let scratch: ScratchDirectory
    private let strace: ForegroundProcess
    /// Kept open: strace ends if it cannot report a new thread.
    private let messages: LineReader

    /// Returns when all threads of the process are traced.
    init(of pid: pid_t) async throws {
        scratch = try ScratchDirectory()
        let pipe = try PipeEnds()
        let calls = "trace=fsync,fdatasync,sync_file_range,syncfs,msync"
        strace = try ForegroundProcess(
            Programs.strace,
            ["-f", "-e", calls, "-o", scratch.file("trace"), "-p", "\(pid)"],
            descriptors: [2: pipe.writeEnd]
        )
        close(pipe.writeEnd)
        messages = LineReader(pipe.readEnd)
        try await messages.wait(for: "strace") { lines, isAtEnd in
            if isAtEnd { throw SystemCallFailure("strace: \(lines)", EPERM) }
            return lines.contains { $0.contains("attached") } ? true : nil
        }
    }

    /// Detaches from the process and returns the number of calls.
    func end() async throws -> Int {
        strace.kill(SIGINT)
        let code = try await strace.waitForEnd()
        #expect(code == 128 + SIGINT, "strace ended by itself")
        let content = FileManager.default.contents(atPath: scratch.file("trace")) ?? Data()
        return String(decoding: content, as: UTF8.self).split(separator: "\n").count { line in
            line.contains("(") && !line.contains("resumed>")
        }
    }
}
