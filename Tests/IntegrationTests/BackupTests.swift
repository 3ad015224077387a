import BackgrounderAPI
import Foundation
import SystemSupport
import TestSupport
import Testing

/// `backup` of a running service, and `restore`.
@Suite(.sharing) struct BackupTests {
    private func makeService() async throws -> Service {
        let service = try Service(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=max")
        try await service.start()
        try await service.waitForEndOfTrack()
        return service
    }

    @Test func `a backup of a running service restores history, trips, queue and settings`() async throws {
        let service = try await makeService()
        try await service.run("queue", "add", Samples.tunes[0])
        try await service.run("location", "accuracy", "hundredMeters")
        try await service.run("location", "stop")
        let points: [Location] = try await service.json("track", "history")
        let trips: [Trip] = try await service.json("track", "trips")
        let file = service.file("copy.sqlite")
        let backup = try await service.run("backup", file)
        #expect(backup.text.hasPrefix("wrote \(file): \(points.count) points, \(trips.count) trip"))
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)

        try await service.run("track", "delete", "--until", "1h", "--yes")
        try await service.run("queue", "clear")
        let running = try await service.command(["restore", file])
        #expect(running.exitCode == 1)
        #expect(running.errors.contains("already running"), "\(running)")
        try await service.run("stop")
        let restore = try await service.run("restore", file)
        #expect(restore.text.contains("restored \(service.paths.database): \(points.count) points"))
        let aside = try #require(restore.text.firstMatch(of: /moved the previous database to (\S+)\n/)).output.1
        #expect(FileManager.default.fileExists(atPath: String(aside)))

        try await service.start()
        #expect(try await service.json("track", "history") == points)
        #expect(try await service.json("track", "trips") == trips)
        let status: ServiceStatus = try await service.json("status")
        #expect(status.location?.desiredAccuracy == .hundredMeters)
        #expect(status.health?.state == .ok)
        let queue: [PlayerItem] = try await service.json("queue")
        #expect(queue.map(\.path) == [Samples.tunes[0]])
    }

    @Test func `backup and restore use the folder of --home, whatever the environment says`() async throws {
        let service = try await makeService()
        let points: [Location] = try await service.json("track", "history")
        try await service.run("backup", service.file("copy"))
        let other = service.file("other")
        let restore = try await service.run("restore", service.file("copy"), "--home", other)
        #expect(restore.text.hasPrefix("restored \(other)/state/backgrounder.sqlite: \(points.count) points"))
        let backup = try await service.run("backup", service.file("copy-of-copy"), "--home", other)
        #expect(backup.text.hasPrefix("wrote \(service.file("copy-of-copy")): \(points.count) points"))
        let missing = try await service.command(["backup", service.file("none"), "--home", service.file("nowhere")])
        #expect(missing.exitCode == 1)
        #expect(missing.errors.contains("no database at \(service.file("nowhere"))/"), "\(missing)")
    }

    @Test func `a backup made during a flood of points is whole and holds the earlier points`() async throws {
        let service = try Service(source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=200")
        try await service.start()
        let events = try service.events()
        try await events.wait(for: "200 points") { $0.count("location") >= 200 ? true : nil }
        for number in 0..<3 { try await service.run("backup", service.file("copy-\(number)")) }
        try await service.run("stop")
        for number in 0..<3 {
            let restore = try await service.run("restore", service.file("copy-\(number)"))
            let count = try #require(restore.text.firstMatch(of: /: ([0-9]+) points/)).output.1
            #expect(try #require(Int(count)) >= 200)
        }
    }

    @Test func `backup does not replace an existing file, and restore refuses an invalid backup`() async throws {
        let service = try await makeService()
        try service.scratch.write("precious", to: "taken")
        let taken = try await service.command(["backup", service.file("taken")])
        #expect(taken.exitCode == 1)
        #expect(taken.errors.contains("already exists; name a new file"))
        #expect(try String(contentsOfFile: service.file("taken"), encoding: .utf8) == "precious")
        let elsewhere = try await service.command(["backup", "/nowhere/copy"])
        #expect(elsewhere.exitCode == 1)
        #expect(elsewhere.errors.split(separator: "\n").count == 1, "\(elsewhere)")

        let file = service.file("copy")
        try await service.run("backup", file)
        try await service.run("stop")
        try await service.command(["restore", service.paths.state]).expectRefusal(1, ["is not a Backgrounder database"])
        let before = try Data(contentsOf: URL(filePath: service.paths.database))
        var damaged = try Data(contentsOf: URL(filePath: file))
        damaged.replaceSubrange(8192..<12288, with: Data(repeating: 0xA5, count: 4096))
        try damaged.write(to: URL(filePath: service.file("damaged")))
        for (name, reason) in [
            ("taken", "is not a Backgrounder database"), ("damaged", "damaged"), ("missing", "no such file"),
        ] {
            let run = try await service.command(["restore", service.file(name)])
            #expect(run.exitCode == 1)
            #expect(run.errors.contains(reason), "\(run)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(run)")
        }
        #expect(try Data(contentsOf: URL(filePath: service.paths.database)) == before)
    }

    @Test func `without a database there is nothing to back up`() async throws {
        let service = try Service(source: "gpsd://localhost:1")
        let run = try await service.command(["backup", service.file("copy")])
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("no database at "))
    }
}
