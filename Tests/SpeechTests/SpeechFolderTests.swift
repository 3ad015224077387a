import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import Speech

/// The files of the cache: the size limit, damage, foreign files and the folder itself.
@Suite struct SpeechFolderTests {
    @Test func `the least recently used files are removed beyond the limit`() async throws {
        let rig = try await SpeechRig()
        let before = rig.cache(limit: 4 * SpeechRig.size)
        for text in ["a", "b", "c"] { _ = try await before.file(for: text, before: .far) }
        // Another cache, which has returned none of them.
        let cache = rig.cache(limit: 3 * SpeechRig.size + 100)
        _ = try await cache.file(for: "a", before: .far)
        _ = try await cache.file(for: "d", before: .far)
        #expect(try ["a", "b", "c", "d"].map(rig.exists) == [true, false, true, true])
        _ = try await cache.file(for: "e", before: .far)
        #expect(try ["a", "c", "d", "e"].map(rig.exists) == [true, false, true, true])
    }

    @Test func `a file that was just returned stays, even beyond the limit`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache(limit: SpeechRig.size)
        let first = try await cache.file(for: "a", before: .far)
        _ = try await cache.file(for: "b", before: .far)
        await cache.prepare(["c"])
        await cache.finishPrepared()
        #expect(FileManager.default.fileExists(atPath: first))
        #expect(rig.names.count == 2)
    }

    @Test func `a limit that became smaller is applied at the start`() async throws {
        let rig = try await SpeechRig()
        let before = rig.cache()
        for text in ["a", "b", "c"] { _ = try await before.file(for: text, before: .far) }
        _ = try await rig.cache(limit: SpeechRig.size).file(for: "c", before: .far)
        #expect(try ["a", "b", "c"].map(rig.exists) == [false, false, true])
        #expect(rig.texts == ["a", "b", "c"])
    }

    @Test func `prepared texts do not displace each other`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache(limit: 2 * SpeechRig.size)
        await cache.prepare(["x", "y"])
        await cache.finishPrepared()
        await cache.prepare(["a", "b", "c", "d"])
        await cache.finishPrepared()
        #expect(try ["a", "b", "c", "x", "y"].map(rig.exists) == [true, true, false, false, false])
        #expect(rig.texts == ["x", "y", "a", "b", "c"])
        let words = "warning The speech cache is full: 2 texts are not rendered ahead; raise its limit"
        #expect(rig.log.lines == [words])
    }

    @Test func `prepared texts count as used`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache(limit: 3 * SpeechRig.size)
        await cache.prepare(["a", "b", "c"])
        await cache.finishPrepared()
        await cache.prepare(["a", "c"])
        _ = try await cache.file(for: "d", before: .far)
        #expect(try ["a", "b", "c", "d"].map(rig.exists) == [true, false, true, true])
    }

    @Test(arguments: ["truncate -s 500", "truncate -s 0", "truncate -s 5000", "cp /etc/passwd", "ln -sf /etc/passwd"])
    func `a damaged file is rendered again`(damage: String) async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        let path = try await cache.file(for: "a", before: .far)
        try await Tool.run("sh", "-c", "\(damage) '\(path)'")
        let password = try Data(contentsOf: URL(fileURLWithPath: "/etc/passwd"))
        #expect(try await cache.file(for: "a", before: .far) == path)
        #expect(rig.texts == ["a", "a"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == SpeechRig.noise(SpeechRig.size))
        #expect(try Data(contentsOf: URL(fileURLWithPath: "/etc/passwd")) == password)
    }

    @Test func `a file that was removed is rendered again, even with its folder`() async throws {
        let rig = try await SpeechRig()
        let cache = rig.cache()
        let path = try await cache.file(for: "a", before: .far)
        try FileManager.default.removeItem(atPath: rig.folder)
        #expect(try await cache.file(for: "a", before: .far) == path)
        #expect(rig.texts == ["a", "a"])
    }

    @Test func `foreign files are ignored, and unfinished ones of an earlier process are removed`() async throws {
        let rig = try await SpeechRig()
        try FileManager.default.createDirectory(atPath: rig.folder, withIntermediateDirectories: false)
        let digest = String(repeating: "0a", count: 32)
        let foreign = ["notes.txt", "a.wav", "x.part"]
        for name in foreign + [digest + ".part"] {
            try rig.scratch.write(Data(count: 10_000), to: "speech/\(name)")
        }
        let cache = rig.cache(limit: SpeechRig.size)
        let path = try await cache.file(for: "a", before: .far)
        #expect(Set(rig.names) == Set(foreign + [String(splitPath(path).name)]))
    }

    @Test func `the folder is only for its owner`() async throws {
        let rig = try await SpeechRig()
        let mode = {
            let mode = try FileManager.default.attributesOfItem(atPath: rig.folder)[.posixPermissions]
            return try #require(mode as? Int)
        }
        let path = try await rig.cache().file(for: "a", before: .far)
        #expect(try mode() == 0o700)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try #require(chmod(rig.folder, 0o755) == 0)
        _ = try await rig.cache().file(for: "a", before: .far)
        #expect(try mode() == 0o700)
    }

    @Test(arguments: [
        ("ln -s /tmp", "a symbolic link"), ("touch", "not a folder"), ("mkdir -m 777", "other users can write"),
        ("mkdir x && rm -r x ../nothing-here; rmdir", "cannot create the folder"),
        ("sh -c 'mkdir \"$0\" && chown 65534 \"$0\"'", "belongs to user 65534"),
    ])
    func `a folder that others could use is refused`(command: String, words: String) async throws {
        let rig = try await SpeechRig()
        if words.hasPrefix("cannot create") {
            try FileManager.default.removeItem(atPath: rig.scratch.path)
        } else {
            try await Tool.run("sh", "-c", "\(command) '\(rig.folder)'")
        }
        guard case .unavailable(let reason)? = await rig.cache().error(for: "a") else {
            return #expect(Bool(false))
        }
        #expect(reason.contains(words), "\(reason)")
        #expect(rig.log.lines == ["warning Cannot render speech: \(reason)"])
    }

    @Test(.enabled(if: geteuid() == 0, "needs root to mount a small file system"))
    func `a full disk leaves nothing half-written`() async throws {
        let rig = try await SpeechRig("cat long.wav")
        try rig.scratch.write(SpeechRig.noise(100_000), to: "long.wav")
        try FileManager.default.createDirectory(atPath: rig.folder, withIntermediateDirectories: false)
        try await Tool.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", rig.folder)
        let error = await rig.cache().error(for: "a")
        let names = rig.names
        try await Tool.run("umount", rig.folder)
        let reason = "cannot write to \(rig.folder): No space left on device; check the space and the modes there"
        #expect(error == .failed(reason))
        #expect(names.isEmpty)
    }
}
