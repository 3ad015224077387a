import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// Sound from web servers in a running service.
@Suite(.sharing) struct StreamTests {
    private let server: TestWebServer

    init() throws { server = try TestWebServer() }

    private func service() throws -> Service {
        let service = try Service(source: Samples.walk)
        try FileManager.default.createDirectory(atPath: service.file("music"), withIntermediateDirectories: true)
        try service.configure(yaml: "modes: [audio]\naudio: {driver: \"null\", musicDirectory: music/}\n")
        return service
    }

    /// Returns a tone as an MP3 file, with a tag if it has a `title`.
    private func mp3(_ service: Service, seconds: Int, title: String? = nil) async throws -> [UInt8] {
        let (wav, mp3) = (service.file("a.wav"), service.file("a.mp3"))
        try await Tool.run("sox", "-D", "-n", "-r", "44100", "-b", "16", wav, "synth", "\(seconds)", "sine", "440")
        let tag = title.map { ["--tt", $0] } ?? []
        try await Tool.run(words: ["lame", "--quiet", "-b", "128"] + tag + [wav, mp3])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: mp3)))
    }

    private func mpc(_ service: Service, _ words: String...) async throws -> String {
        let run = try await ProgramRun.of("/usr/bin/mpc", ["--host", service.paths.mpdSocket] + words)
        try #require(run.exitCode == 0, "\(words): \(run)")
        return run.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `mpc adds a live stream, and sees its title and its station`() async throws {
        let service = try service()
        server.on(
            "/live",
            TestRadio(sound: try await mp3(service, seconds: 10), interval: 999, titles: ["Ann: Blue"]).script
        )
        try await service.start()
        let events = try service.events()
        _ = try await mpc(service, "add", server.url("/live"))
        _ = try await mpc(service, "play")
        while (try await service.json("audio", as: AudioStatus.self)).currentItem?.title == nil {}
        #expect(try await mpc(service, "current", "-f", "%title%") == "Ann: Blue")
        #expect(try await mpc(service, "current", "-f", "%name% %file%") == "Radio Löwe \(server.url("/live"))")
        #expect(try await mpc(service, "playlist", "-f", "%title%") == "Ann: Blue")
        let status: AudioStatus = try await service.json("audio")
        #expect(status.currentItem?.title == "Ann: Blue")
        #expect(status.currentItem?.station == "Radio Löwe")
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.first?.title == "Ann: Blue")
        let text = try await service.run("audio").text
        #expect(text.contains("station   Radio Löwe\naddress   \(server.url("/live"))"), "\(text)")
        let refused = try await service.command(["audio", "seek", "10"])
        #expect(refused.errors.contains("it is a live stream"), "\(refused)")
        // A stored playlist keeps the address.
        _ = try await mpc(service, "save", "radio")
        _ = try await mpc(service, "clear")
        _ = try await mpc(service, "load", "radio")
        #expect(try await mpc(service, "playlist", "-f", "%file%") == server.url("/live"))
        _ = events
    }

    @Test func `after a kill a podcast continues where it was, and asks for the bytes from there`() async throws {
        let service = try service()
        let all = try await mp3(service, seconds: 120, title: "Episode 1")
        server.on("/episode.mp3") { request, connection in
            let start = request.rangeStart
            var headers = ["ETag": "\"1\"", "Content-Type": "audio/mpeg", "Content-Length": "\(all.count - start)"]
            if start > 0 { headers["Content-Range"] = "bytes \(start)-\(all.count - 1)/\(all.count)" }
            try connection.sendHead(start > 0 ? 206 : 200, headers)
            try connection.send(all[start...])
        }
        try await service.start()
        try await service.run("queue", "add", server.url("/episode.mp3"))
        try await service.run("audio", "play")
        try await service.run("audio", "seek", "60")
        var before: AudioStatus = try await service.json("audio")
        while before.elapsed ?? 0 < 61.5 { before = try await service.json("audio") }
        #expect(before.currentItem?.title == "Episode 1")
        try await service.crash()
        try await service.start()
        let after: AudioStatus = try await service.json("audio")
        #expect(after.timeControlStatus == .playing)
        #expect(after.currentItem == before.currentItem)
        let lost = (before.elapsed ?? 0) - (after.elapsed ?? 0)
        #expect(lost < 1 && lost > -10, "\(lost)")
        var now = after
        while now.buffering != nil || now.elapsed ?? 0 < 62 { now = try await service.json("audio") }
        let start = try #require(server.requests(to: "/episode.mp3").last?.rangeStart)
        // 16,000 bytes a second.
        #expect(abs(Double(start) / 16_000 - 61) < 2, "\(start)")
    }

    @Test func `addresses that cannot be played are refused in one line`() async throws {
        let service = try service()
        try await service.start()
        for (address, words) in [
            ("ftp://radio.example/live", "neither https nor http"), ("https://ann:secret@radio.example/", "a password"),
            ("http://", "has no host"),
        ] {
            let run = try await service.command(["queue", "add", address])
            #expect(run.exitCode != 0)
            #expect(run.errors.contains(words), "\(run.errors)")
            #expect(!run.errors.contains("secret"))
        }
        let list = try service.scratch.write("https://radio.example/live\n", to: "radio.m3u")
        try await service.run("queue", "add", list)
        try await service.run("queue", "load", list)
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.map(\.path) == ["https://radio.example/live", "https://radio.example/live"])
    }
}
