import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The effects of attaching and detaching on the service and its modes.
@Suite(.sharing, .inRealTime) struct AttachmentTests {
    @Test func `an undeclared mode stops with the last client and resumes with the next one`() async throws {
        let service = try Service(TestConfiguration(modes: "[location]", queue: Samples.tunes, autoplay: true))
        try await service.start()
        let alone = try await service.events().wait(forState: "first state") { _ in true }
        #expect(alone.status.audio?.timeControlStatus != .playing)
        #expect(alone.status.attached == 0)

        let attached = try service.events(attach: true, observe: "100ms")
        try await attached.wait(for: "1 s of sound") { received in
            try received.times().contains { $0.elapsed > 1 } ? true : nil
        }
        let active: ServiceStatus = try await service.json("status")
        #expect(active.state == .active)
        #expect(active.attached == 1)
        #expect(active.modes == [.location])
        #expect(active.audio?.timeControlStatus == .playing)
        try await service.run("audio", "pause")
        try await service.run("audio", "play")

        attached.detach()
        let left = try await service.events().wait(forState: "suspension of audio") {
            $0.status.attached == 0 && $0.status.audio?.timeControlStatus != .playing
        }
        #expect(left.status.state == .background)
        let position = try #require(left.status.audio?.elapsed)
        #expect(position > 1)
        let connection = try service.connection()
        let later: AudioStatus = try await service.get("/v1/audio", on: connection)
        #expect(later.elapsed == position, "playback continues in silence")

        for command in [
            ["play"], ["toggle"], ["next"], ["previous"], ["play", Samples.tunes[1]], ["interrupt", Samples.tunes[1]],
        ] {
            let run = try await service.command(["audio"] + command)
            run.expectRefusal(1, ["audio is not in modes; attach or declare it"])
        }
        let other = try service.connection()
        #expect(try await other.send("POST", "/v1/audio/play", body: "{}").status == 409)
        #expect(try await other.send("GET", "/v1/queue").json().array?.count == 3)

        let again = try service.events(attach: true, observe: "100ms")
        try await again.wait(for: "the sound from where it was") { received in
            try received.times().contains { $0.elapsed > position + 0.3 && $0.elapsed < position + 3 } ? true : nil
        }
    }

    @Test func `undeclared location is refused unattended and tracks while a client is attached`() async throws {
        let service = try Service(TestConfiguration(modes: "[audio]"))
        try await service.start()
        let run = try await service.command(["location", "start"])
        run.expectRefusal(1, ["location is not in modes; attach or declare it"])
        let idle: ServiceStatus = try await service.json("status")
        #expect(idle.state == .suspended)
        #expect(idle.location?.received == 0)
        let attached = try service.events(attach: true)
        try await attached.wait(for: "3 points") { $0.count("location") >= 3 ? true : nil }
        attached.detach()
        try await service.events().wait(until: .suspended, attached: 0)
        let location: LocationStatus = try await service.json("location")
        #expect(location.connection == .off)
    }

    @Test func `a reader that stalls for 5 s makes the state inactive until it reads again`() async throws {
        let service = try Service(
            TestConfiguration(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=5")
        )
        try await service.start()
        let connection = try service.connection()
        let watcher = try service.events()
        try await watcher.wait(until: .background, attached: 0)
        let (_, took) = try await time {
            try await connection.begin("GET", "/v1/events?attach=1&observe=10ms")
            _ = try await connection.head()
            try await watcher.wait(for: "inactive") { received in
                let states = received.payloads("lifecycle").compactMap { $0.firstMatch(of: /"state":"(\w+)"/)?.1 }
                // Location may start the background state after the watcher's first event.
                let since = states.first == "background" ? states.dropFirst() : states[...]
                return since.starts(with: ["active", "inactive"]) ? true : nil
            }
        }
        #expect(took > .seconds(5), "\(took)")
        #expect(took < .seconds(20), "\(took)")
        let status: ServiceStatus = try await service.json("status")
        #expect(status.state == .inactive)
        #expect(status.attached == 1)
        // Reading the backlog makes it active; read until the stream itself reports the change.
        var text = ""
        while !text.contains(#""state":"active"}"#) || !text.contains(#""state":"inactive"}"#) {
            text += String(decoding: try #require(try await connection.chunk()), as: UTF8.self)
        }
        let back: ServiceStatus = try await service.json("status")
        #expect(back.state == .active)
    }

    @Test func `one-off commands do not count as attached, and two readers count as two`() async throws {
        let service = try Service(TestConfiguration())
        try await service.start()
        let (first, second) = (try service.events(attach: true), try service.events(attach: true))
        let watcher = try service.events()
        try await watcher.wait(until: .active, attached: 2)
        first.detach()
        try await watcher.wait(until: .active, attached: 1)
        second.detach()
        try await watcher.wait(until: .background, attached: 0)
        try await service.run("location", "stop")
        try await watcher.wait(until: .suspended, attached: 0)
        let status: ServiceStatus = try await service.json("status")
        #expect(status.state == .suspended)
        #expect(status.attached == 0)
    }

    @Test func `points are logged in the agreed format, and only while no client is attached`() async throws {
        let service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                queue: Samples.tunes,
                autoplay: true
            )
        )
        try await service.start()
        let watcher = try service.events()
        try await watcher.wait(for: "30 points") { $0.count("location") >= 30 ? true : nil }
        let attached = try service.events(attach: true)
        try await attached.wait(until: .active, attached: 1)
        func points() -> Int { service.logLines().count { $0.contains("App is backgrounded. New location is <") } }
        let before = points()
        #expect(before >= 30)
        try await attached.wait(for: "30 more points") { $0.count("location") >= 30 ? true : nil }
        #expect(points() == before)
        attached.detach()
        try await watcher.wait(until: .background, attached: 0)
        let count = watcher.received.count("location")
        try await watcher.wait(for: "20 points") { $0.count("location") >= count + 20 ? true : nil }
        #expect(points() > before)
        let words =
            #/
            info\ App\ is\ backgrounded\.\ New\ location\ is\ <[+-]\d+\.\d{8},[+-]\d+\.\d{8}>\ \+/-\ \d+\.\d\dm
            \ \(speed\ \d+\.\d\d\ mps\ /\ course\ \d+\.\d\d\)\ @\ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$
            /#
        for line in service.logLines() where line.contains("New location") {
            #expect(line.firstMatch(of: words) != nil, "\(line)")
        }
        #expect(
            service.logLines().contains {
                $0.firstMatch(of: #/info Background: \d+\.\d\d harbour-chimes\.mp3$/#) != nil
            }
        )
    }

    @Test func `the log reports progress as often as log.progress says, also after a reload`() async throws {
        func configuration(_ progress: String) -> TestConfiguration {
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                queue: Samples.tunes,
                autoplay: true,
                rest: ["log: {progress: \(progress)}"]
            )
        }
        let service = try Service(configuration("2s"))
        func lines(_ words: String) -> Int { service.logLines().count { $0.contains(words) } }
        try await service.start()
        let watcher = try service.events()
        let began = ContinuousClock.now
        try await watcher.wait(for: "90 points") { $0.count("location") >= 90 ? true : nil }
        let slots = Int((ContinuousClock.now - began) / .seconds(1.9)) + 3
        #expect((1...slots).contains(lines("New location is")))
        #expect((1...slots).contains(lines("Background: ")))

        try service.configure(configuration("off"))
        try await service.run("reload")
        let before = (lines("New location is"), lines("Background: "))
        let count = watcher.received.count("location")
        try await watcher.wait(for: "40 points") { $0.count("location") >= count + 40 ? true : nil }
        #expect(lines("New location is") == before.0)
        #expect(lines("Background: ") == before.1)

        try service.configure(configuration("every"))
        try await service.run("reload")
        let next = watcher.received.count("location")
        try await watcher.wait(for: "40 points") { $0.count("location") >= next + 40 ? true : nil }
        #expect(lines("New location is") >= before.0 + 35)
    }
}
