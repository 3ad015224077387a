import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The service's `wav:FILE` output equals that of reference decoders, sample for sample.
@Suite(.sharing, .inRealTime) struct RenderingTests {
    /// Plays `queue` into `out.wav` in the home and returns at the first reply with the status stopped.
    private func render(_ queue: [String]) async throws -> Service {
        let service = try Service(TestConfiguration(queue: queue))
        let driver = "wav:\(service.file("out.wav"))"
        try service.configure(TestConfiguration(driver: driver, queue: queue))
        try await service.start()
        let connection = try service.connection()
        let deadline = ContinuousClock.now + .seconds(60)
        _ = try await connection.send("POST", "/v1/audio/play", body: "{}")
        // Poll without pauses, so that the files are read right after the end.
        while try await service.get("/v1/audio", on: connection, as: AudioStatus.self).timeControlStatus != .stopped {
            try #require(ContinuousClock.now < deadline, "the queue does not end")
        }
        return service
    }

    @Test func `the sample media are rendered whole and in order, in one file per format`() async throws {
        let service = try await render([Products.repository("media")])
        let tunes = try Samples.wav(service.file("out.wav"))
        let announcement = try Samples.wav(service.file("out.wav-2"))
        #expect(!FileManager.default.fileExists(atPath: service.file("out.wav-3")))
        #expect(tunes.rate == 44_100)
        #expect(tunes.channels == 2)
        #expect(announcement.rate == 22_050)
        #expect(announcement.channels == 1)
        Samples.expectSame(tunes.samples, try await Samples.reference(Samples.tunes), "the tunes")
        Samples.expectSame(
            announcement.samples,
            try await Samples.reference(Samples.announcement),
            "the announcement"
        )
        let status: AudioStatus = try await service.json("audio")
        #expect(status.driver.hasPrefix("wav"))
        #expect(status.underruns == 0)
        #expect(status.lastError == nil)
    }

    @Test(arguments: [["-b", "128"], ["-V", "4"]])
    func `an MP3 without a Xing header is played to its end`(options: [String]) async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("item.mp3")
        let run = try await ProgramRun.of(Programs.lame, ["--quiet", "-t"] + options + [Samples.announcement, path])
        try #require(run.exitCode == 0, "\(run)")
        let service = try await render([path])
        let reference = try await Samples.reference(path)
        #expect(reference.count > 10 * 22_050 * 2, "the reference is too short for a meaningful test")
        Samples.expectSame(try Samples.wav(service.file("out.wav")).samples, reference, "the item")
    }

    @Test func `a disk fault in the middle of an item is reported, and the next item is played`() async throws {
        let scratch = try ScratchDirectory()
        let disk = try await StallingDisk(showing: Samples.tunes[1], in: scratch, stopping: nil, each: 120_000)
        let service = try await render([disk.item, Samples.tunes[2]])
        let samples = try Samples.wav(service.file("out.wav")).samples
        let next = try await Samples.reference(Samples.tunes[2])
        #expect(samples.count > next.count + 44_100 * 4)
        Samples.expectSame(samples.suffix(next.count), next, "the next item")
        let status: AudioStatus = try await service.json("audio")
        #expect(status.lastError?.path == disk.item)
        #expect(
            status.lastError?.reason == "cannot read the file: Input/output error",
            "\(status.lastError?.reason ?? "-")"
        )
        _ = try await service.run("stop")
        try await disk.end()
    }
}
