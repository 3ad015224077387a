import Foundation
import SystemSupport
import TestSupport
import Testing

/// Folders that another user owns or can write to are refused before anything in them is touched.
@Suite(.sharing, .enabled(if: getuid() == 0, "only root can give files to other users")) struct ForeignFolderTests {
    private static let other: uid_t = 54_321

    private let service: Service

    init() throws {
        service = try Service(source: "gpsd://localhost:1")
    }

    /// Expects `start` to fail with all of `words` in one line and to change nothing in the home.
    private func expectRefusal(
        _ words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let before = try FileManager.default.subpathsOfDirectory(atPath: service.home).sorted()
        let run = try await service.command(["start"])
        #expect(run.exitCode == 1, "\(run)", sourceLocation: sourceLocation)
        for word in words { #expect(run.errors.contains(word), "\(run)", sourceLocation: sourceLocation) }
        #expect(run.errors.split(separator: "\n").count == 1, "\(run)", sourceLocation: sourceLocation)
        let after = try FileManager.default.subpathsOfDirectory(atPath: service.home).sorted()
        #expect(after == before, sourceLocation: sourceLocation)
    }

    @Test func `a home of another user is refused, and the log does not follow a symbolic link`() async throws {
        let target = service.file("precious")
        try service.scratch.write("precious\n", to: "precious")
        symlink(target, service.file("backgrounder.log"))
        chown(service.home, Self.other, Self.other)
        try await expectRefusal("belongs to user 54321", "use a folder of root or of this user")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious\n")
        chown(service.home, 0, 0)
        lchown(service.file("backgrounder.log"), Self.other, Self.other)
        try await expectRefusal("backgrounder.log", "belongs to user 54321")
        // A link that root owns is not followed either.
        lchown(service.file("backgrounder.log"), 0, 0)
        try await expectRefusal("backgrounder.log", "is a symbolic link, which is not followed")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious\n")
    }

    @Test(arguments: ["", "-wal", "-shm"])
    func `a database that is a symbolic link is refused, and its target stays unchanged`(suffix: String)
        async throws
    {
        try service.scratch.write("precious\n", to: "precious")
        mkdir(service.file("state"), 0o700)
        symlink(service.file("precious"), service.file("state/backgrounder.sqlite\(suffix)"))
        try await expectRefusal("backgrounder.sqlite\(suffix)\" is a symbolic link, which is not followed; remove it")
        #expect(try String(contentsOfFile: service.file("precious"), encoding: .utf8) == "precious\n")
    }

    @Test(arguments: ["state", "run", "config.yaml"])
    func `files and folders of another user in the home are refused`(name: String) async throws {
        if name != "config.yaml" { mkdir(service.file(name), 0o700) }
        chown(service.file(name), Self.other, Self.other)
        try await expectRefusal(name, "belongs to user 54321")
    }

    @Test(arguments: [("state", 0o770), ("run", 0o707), ("config.yaml", 0o666), ("config.yaml", 0o620), (".", 0o777)])
    func `files and folders that other users can write to are refused`(name: String, mode: Int) async throws {
        if !["config.yaml", "."].contains(name) {
            mkdir(service.file(name), 0o700)
            try service.scratch.write("planted", to: "\(name)/planted")
        }
        chmod(service.file(name), mode_t(mode))
        try await expectRefusal("other users can write to ", String(mode, radix: 8), "chmod go-w")
    }

    @Test func `an empty folder that other users can write to is closed to them`()
        async throws
    {
        mkdir(service.file("state"), 0o700)
        chmod(service.file("state"), 0o1777)
        try await service.start()
        let mode = try FileManager.default.attributesOfItem(atPath: service.file("state"))[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }

    @Test func `a home below a folder of another user is refused, directly and through a link`() async throws {
        let folder = service.file("theirs")
        mkdir(folder, 0o755)
        mkdir("\(folder)/home", 0o700)
        chown(folder, Self.other, Self.other)
        symlink("\(folder)/home", service.file("link"))
        for home in ["\(folder)/home", "\(folder)/new", service.file("link")] {
            let run = try await service.command(["--home", home, "start"])
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("theirs\" belongs to user 54321"), "\(run)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["home"])
    }

    @Test func `root restores with the rights of the owner of the state folder`() async throws {
        let unit = try Service(source: "gpx:\(Samples.walk)?rate=max")
        try await unit.start()
        try await unit.waitForEndOfTrack()
        let folder = try ScratchDirectory()
        chmod(folder.path, 0o755)
        let backup = folder.path + "/backup"
        try await unit.run("backup", backup)
        try await unit.run("stop")
        let database = unit.paths.database
        chmod(unit.home, 0o755)
        chown(unit.paths.state, Self.other, Self.other)
        chown(database, Self.other, Self.other)
        try FileManager.default.removeItem(atPath: unit.paths.run)

        chmod(backup, 0o600)
        try await unit.command(["restore", backup]).expectRefusal(1, ["cannot read \(backup)", "Permission denied"])
        chmod(backup, 0o644)
        let restored = try await unit.run("restore", backup)
        let before = try #require(restored.text.firstMatch(of: /moved the previous database to (.+)/)).output.1
        for path in [unit.paths.run, database, String(before)] {
            let owner = try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? Int
            #expect(owner == Int(Self.other), "\(path)")
        }
    }
}
