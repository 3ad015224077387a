import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Announcements from the command line, and their recovery after a crash.
@Suite(.sharing) struct AnnouncementTests {
    @Test func `announcements play in turn, appear in the status and the log, and end with audio stop`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        try await service.start()
        let events = try service.events()
        let path = service.file("doors close.wav")
        try await Tool.run("sox", "-n", "-r", "48000", "-c", "1", path, "synth", "6", "sine", "440")
        let first: AudioStatus = try await service.json("audio", "interrupt", path, "--duck", "20%")
        #expect(first.timeControlStatus == .stopped)
        #expect(first.announcement?.path == path)
        #expect(first.announcement?.duck == 0.2)
        #expect(first.announcements == nil)
        let text = try await service.run("audio", "interrupt", Samples.tunes[1], "--priority", "5").text
        let lines = text.split(separator: "\n")
        #expect(
            lines.contains { $0.contains("doors close.wav") && $0.contains("music at 20%, 1 waiting") }
        )
        let next = try await events.wait(forState: "the second") {
            $0.status.audio?.announcement?.path == Samples.tunes[1] && $0.status.audio?.announcement?.elapsed != nil
        }
        #expect(next.status.audio?.announcement?.priority == 5)
        #expect(next.status.state == .background)
        try await service.run("audio", "stop")
        try await events.wait(forState: "silence") { $0.status.audio?.announcement == nil }
        let log = try await service.run("log", "-n", "20").text
        #expect(log.contains("Announcement: \(path)"))
    }

    @Test func `an output that is disabled stays silent until it is enabled, also after a crash`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        try await service.start()
        _ = try await service.command(["audio", "play"] + Samples.tunes)
        let off = try await service.run("audio", "output", "off").text
        #expect(off.contains("output    disabled; enable it with: backgrounder audio output on"), "\(off)")
        #expect(try await service.run("audio", "output").text == "off\n")
        try await service.command(["audio", "interrupt", Samples.tunes[1]])
            .expectRefusal(1, ["the sound output is disabled", "backgrounder audio output on"])
        let doctor = try await service.command(["doctor"]).text
        #expect(doctor.contains("the output is disabled"), "\(doctor)")
        #expect(doctor.contains("enable it with `backgrounder audio output on`"), "\(doctor)")
        try await service.crash()
        try await service.start()
        let paused: AudioStatus = try await service.json("audio", "play")
        #expect(!paused.outputEnabled)
        #expect(paused.timeControlStatus == .paused)
        #expect(try await service.run("audio").text.contains("output    disabled; enable it with"))
        let on: AudioStatus = try await service.json("audio", "output", "on")
        #expect(on.outputEnabled)
        let playing: AudioStatus = try await service.json("audio", "play")
        #expect(playing.timeControlStatus == .playing)
    }

    @Test func `after a crash during an announcement, the music resumes where it was held`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))")
        try await service.start()
        _ = try await service.command(["audio", "play"] + Samples.tunes)
        try await service.run("audio", "seek", "5")
        let times = try service.events(observe: "20ms")
        try await times.wait(for: "some of the music") { received in
            try received.times().contains { $0.elapsed > 5.3 } ? true : nil
        }
        try await service.run("audio", "interrupt", Samples.tunes[2])
        let held = try await service.events().wait(forState: "the announcement") {
            $0.status.audio?.announcement?.elapsed != nil
        }
        let position = try #require(held.status.audio?.elapsed)
        try await service.crash()
        try await service.start()
        let began = ContinuousClock.now
        let after: AudioStatus = try await service.json("audio")
        #expect(after.timeControlStatus == .playing)
        #expect(after.announcement == nil)
        #expect(after.announcements == nil)
        #expect(after.currentItem?.id == held.status.audio?.currentItem?.id)
        let elapsed = try #require(after.elapsed)
        let since = (ContinuousClock.now - began) / .seconds(1)
        #expect(elapsed > position - 1, "\(position) to \(elapsed)")
        #expect(elapsed < position + 1 + since, "\(position) to \(elapsed)")
    }
}
