import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import Speech

/// Renderers that are missing, fail, hang or never stop.
@Suite struct SpeechFailureTests {
    @Test func `a missing program is reported with the remedy until it is installed`() async throws {
        let rig = try await SpeechRig()
        let program = rig.scratch.file("later")
        let cache = rig.cache(SpeechRenderer(program: program))
        let error = SpeechError.unavailable("cannot find the program \(program); install it, or correct its name")
        await cache.prepare(["a"])
        for _ in 0..<5 { #expect(await cache.error(for: "b") == error) }
        await cache.finishPrepared()
        #expect(rig.log.lines.count == 1)
        try FileManager.default.copyItem(atPath: rig.program, toPath: program)
        _ = try await cache.file(for: "b", before: .far)
        await cache.finishPrepared()
        #expect(rig.texts == ["b", "a"])
        #expect(rig.log.lines.last == "info Rendering speech works again")
    }

    @Test func `a missing espeak-ng is named with its package`() throws {
        #expect(
            throws: SpeechError.unavailable("cannot find the program no-such-program; install it, or correct its name")
        ) {
            try SpeechRenderer(program: "no-such-program").find()
        }
        #expect(try SpeechRenderer().find().hasSuffix("/espeak-ng"))
    }

    @Test(arguments: [
        ("echo first >&2; echo 'no voice' >&2; echo >&2; exit 3", "failed (exit status 3): no voice"),
        ("exit 1", "failed (exit status 1)"), ("kill -9 $$", "was killed by signal 9"),
        ("printf 'a\\033[31mb' >&2; exit 2", "failed (exit status 2): a\u{FFFD}[31mb"),
        ("printf '%300s' x | tr ' ' y >&2; exit 2", "failed (exit status 2): " + String(repeating: "y", count: 200)),
    ])
    func `a failing program is reported with its last words`(script: String, words: String) async throws {
        let rig = try await SpeechRig(script)
        #expect(await rig.cache().error(for: "a") == .failed("\(rig.program) \(words)"))
        #expect(rig.names.isEmpty)
    }

    @Test(arguments: ["true", "echo hello", "head -c 44 noise.wav", "head -c 30 noise.wav", "head -c 2000 /dev/zero"])
    func `output that is not a WAV file with sound is refused`(script: String) async throws {
        let rig = try await SpeechRig(script)
        let error = await rig.cache().error(for: "a")
        #expect(error == .failed("the output of \(rig.program) is not a WAV file with sound"))
        #expect(rig.names.isEmpty)
    }

    @Test func `a program that never stops writing is killed`() async throws {
        let rig = try await SpeechRig("cat noise.wav; exec cat /dev/zero")
        let error = await rig.cache(rig.renderer(sizeLimit: 100_000)).error(for: "a")
        #expect(error == .failed("\(rig.program) wrote more than 100000 bytes and was killed"))
        #expect(rig.names.isEmpty)
    }

    @Test func `a program that hangs is killed with its children, and the next text is rendered`() async throws {
        let token = Int.random(in: 1_000_000..<9_000_000)
        let rig = try await SpeechRig("case $text in hang) \(HostileTree.quietScript(token: token)) ;; esac; say")
        let cache = rig.cache(rig.renderer(timeLimit: .seconds(1)))
        async let next = cache.file(for: "b", before: .far)
        #expect(await cache.error(for: "hang") == .failed("\(rig.program) took longer than 1.0 s and was killed"))
        #expect(ProcessSearch.running(with: "\(token)").isEmpty)
        #expect(try await next == rig.path("b"))
    }

    @Test func `a hanging text that is rendered ahead does not delay a caller`() async throws {
        let rig = try await SpeechRig("case $text in hang) exec sleep 86400 ;; esac; say")
        let cache = rig.cache()
        await cache.prepare(["hang"])
        try await rig.began("hang")
        #expect(try await cache.file(for: "b", before: .far) == rig.path("b"))
        await cache.stop()
    }

    @Test func `after three failures in a row no program is started for a while`() async throws {
        let rig = try await SpeechRig("exit 1")
        let cache = rig.cache()
        for text in ["a", "b", "c", "d", "e"] {
            #expect(await cache.error(for: text) == .failed("\(rig.program) failed (exit status 1)"))
        }
        await cache.prepare(["f"])
        await cache.finishPrepared()
        #expect(rig.texts == ["a", "b", "c"])
        await cache.stop()
    }

    @Test func `the first failure and the first success are logged`() async throws {
        let rig = try await SpeechRig("test -e works || exit 1; say")
        let cache = rig.cache(retry: 0.05)
        await cache.prepare(["a", "b"])
        try await rig.report.reader.wait(for: "four attempts") { lines, _ in lines.count >= 4 ? true : nil }
        try rig.scratch.write("", to: "works")
        try await rig.log.wait(for: 1, with: "Rendering speech works again")
        #expect(
            rig.log.lines == [
                "warning Cannot render speech: \(rig.program) failed (exit status 1)",
                "info Rendering speech works again",
            ]
        )
    }

    @Test func `a prepared text that always fails is given up`() async throws {
        let rig = try await SpeechRig("test \"$text\" = a && exit 1; say")
        let cache = rig.cache(retry: 0.01)
        await cache.prepare(["a", "b"])
        try await rig.report.reader.wait(for: "five attempts") { lines, _ in lines.count >= 6 ? true : nil }
        while let lane = await cache.lanes[.ahead] { await lane.value }
        #expect(rig.texts.filter { $0 == "a" }.count == 5)
        #expect(rig.texts.filter { $0 == "b" }.count == 1)
        #expect(await cache.prepared.isEmpty)
        #expect(await cache.retry == nil)
    }

    @Test func `without a keeper the reason is reported`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache(keeper: "/no/such/keeper")
        #expect(await cache.error(for: "a") == .failed("cannot start /no/such/keeper: No such file or directory"))
    }
}
