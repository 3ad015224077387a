import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import Speech

/// Rendering on request and ahead, and what remains in the cache.
@Suite struct SpeechCacheTests {
    @Test func `a text is rendered once`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        let first = try await cache.file(for: "a", before: .far)
        let second = try await cache.file(for: "a", before: .far)
        #expect(first == second)
        #expect(rig.texts == ["a"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: first)) == SpeechRig.noise(SpeechRig.size))
    }

    @Test func `a cached file is returned even after the deadline`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        let path = try await cache.file(for: "a", before: .far)
        #expect(try await cache.file(for: "a", before: MonotonicTime(seconds: 0)) == path)
        #expect(await cache.error(for: "b", before: MonotonicTime(seconds: 0)) == .late)
    }

    @Test func `a restart keeps the cache`() async throws {
        let rig = try await SpeechRig()
        _ = try await rig.cache().file(for: "a", before: .far)
        _ = try await rig.cache().file(for: "a", before: .far)
        #expect(rig.texts == ["a"])
    }

    @Test func `another voice, speed or program is rendered again`() async throws {
        let rig = try await SpeechRig()
        var renderers = [rig.renderer(), rig.renderer(), rig.renderer()]
        renderers[1].voice = "de"
        renderers[2].speed = 120
        for renderer in renderers { _ = try await rig.cache(renderer).file(for: "a", before: .far) }
        #expect(rig.texts == ["a", "a", "a"])
        #expect(rig.names.count == 3)
    }

    @Test func `the text is passed on stdin and never as an argument`() async throws {
        let rig = try await SpeechRig("echo \"$@\" > arguments; say")
        var renderer = rig.renderer()
        (renderer.voice, renderer.speed) = ("en-gb", 140)
        _ = try await rig.cache(renderer).file(for: "-w /etc/x", before: .far)
        #expect(rig.texts == ["-w /etc/x"])
        let arguments = try String(contentsOfFile: rig.scratch.file("arguments"), encoding: .utf8)
        #expect(arguments == "-b 1 -v en-gb -s 140 --stdin --stdout\n")
    }

    @Test func `prepared texts are rendered in order, once, and one at a time`() async throws {
        let rig = try await SpeechRig("mkdir busy || touch overlap; say; rmdir busy")
        let cache = rig.cache()
        await cache.prepare(["c", "a", "b", "a"])
        await cache.finishPrepared()
        #expect(rig.texts == ["c", "a", "b"])
        #expect(!FileManager.default.fileExists(atPath: rig.scratch.file("overlap")))
        await cache.prepare(["a", "d", "c"])
        await cache.finishPrepared()
        #expect(rig.texts == ["c", "a", "b", "d"])
    }

    @Test func `a text that a caller waits for does not wait for the prepared ones`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        await cache.prepare(["wait", "b", "c"])
        try await rig.began("wait")
        _ = try await cache.file(for: "c", before: .far)
        #expect(rig.texts == ["wait", "c"])
        try await rig.release()
        await cache.finishPrepared()
        #expect(rig.texts == ["wait", "c", "b"])
    }

    @Test func `a caller waits for a prepared text that is being rendered`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        await cache.prepare(["wait"])
        try await rig.began("wait")
        async let path = cache.file(for: "wait", before: .far)
        try await rig.release()
        #expect(try await path == rig.path("wait"))
        #expect(rig.texts == ["wait"])
    }

    @Test func `only prepared texts have a low priority`() async throws {
        let rig = try await SpeechRig("nice > niceness-$text; say")
        let cache = rig.cache()
        await cache.prepare(["ahead"])
        await cache.finishPrepared()
        _ = try await cache.file(for: "urgent", before: .far)
        let niceness = { (text: String) in
            let content = try String(contentsOfFile: rig.scratch.file("niceness-\(text)"), encoding: .utf8)
            return try #require(Int(content.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        #expect(try niceness("ahead") == min(niceness("urgent") + 10, 19))
    }

    @Test func `prepared texts that have not begun are replaced by the next ones`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        await cache.prepare(["wait", "b", "c"])
        try await rig.began("wait")
        await cache.prepare(["d"])
        try await rig.release()
        await cache.finishPrepared()
        #expect(rig.texts == ["wait", "d"])
    }

    @Test func `invalid and too many prepared texts are ignored`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        await cache.prepare([String](repeating: " ", count: 999) + ["a", "b"])
        await cache.finishPrepared()
        #expect(rig.texts == ["a"])
        #expect(rig.log.lines == ["warning Rendering only the first 1000 of 1001 texts ahead"])
    }

    @Test func `a caller whose deadline passes is released, and the rendering continues`() async throws {
        let rig = try await SpeechRig()
        let clock = VirtualClock()
        let cache = rig.cache(clock: clock)
        let caller = Task { await cache.error(for: "wait", before: .now + .seconds(30)) }
        try await rig.began("wait")
        // The time limit of the renderer is later.
        try await clock.wait(for: "the deadline") { $0.contains { $0 <= 30 } }
        clock.advance(by: .seconds(30))
        #expect(await caller.value == .late)
        async let path = cache.file(for: "wait", before: .far)
        try await rig.release()
        #expect(try await path == rig.path("wait"))
        #expect(rig.texts == ["wait"])
    }

    @Test func `a text that has not begun when its deadline passes is dropped`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        async let first = cache.file(for: "wait", before: .far)
        try await rig.began("wait")
        #expect(await cache.error(for: "b", before: .now + .milliseconds(50)) == .late)
        try await rig.release()
        _ = try await first
        _ = try await cache.file(for: "c", before: .far)
        #expect(rig.texts == ["wait", "c"])
    }

    @Test func `a cancelled caller is released, and the rendering continues`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        let caller = Task { await cache.error(for: "wait") }
        try await rig.began("wait")
        caller.cancel()
        #expect(await caller.value == .cancelled)
        async let path = cache.file(for: "wait", before: .far)
        try await rig.release()
        #expect(try await path == rig.path("wait"))
        #expect(rig.texts == ["wait"])
    }

    @Test(arguments: [true, false])
    func `the end of the service kills the renderer and releases the callers`(isUrgent: Bool) async throws {
        let token = Int.random(in: 1_000_000..<9_000_000)
        let rig = try await SpeechRig("\(HostileTree.quietScript(token: token))")
        let cache = rig.cache()
        let service = Task { try await cache.run() }
        if !isUrgent { await cache.prepare(["a"]) }
        let caller = Task { await cache.error(for: isUrgent ? "a" : "b") }
        try await rig.began("a")
        service.cancel()
        try await service.value
        #expect(await caller.value == .cancelled)
        #expect(ProcessSearch.running(with: "\(token)").isEmpty)
        await cache.prepare(["c"])
        #expect(await cache.error(for: "d") == .cancelled)
        #expect(await cache.lanes.isEmpty)
    }
}
