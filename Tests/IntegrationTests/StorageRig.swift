import Foundation
import SystemSupport
import TestSupport
import Testing

/// A service whose state is on its own small file system.
struct StorageRig {
    let service: Service
    let process: ForegroundProcess

    /// Starts a service that plays, and that tracks a drive.
    ///
    /// - Parameter rate: points a second of the replayed drive.
    init(rate: Int = 20) async throws {
        try await self.init(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=\(rate)",
                queue: [
                    Products.repository("media/quiet-waltz.mp3"), Products.repository("media/morning-tune.mp3"),
                ],
                autoplay: true
            )
        )
    }

    init(_ configuration: TestConfiguration) async throws {
        service = try Service(configuration)
        try FileManager.default.createDirectory(atPath: service.file("state"), withIntermediateDirectories: false)
        process = try await service.start(
            unsharing: ["-m", "--propagation", "private"],
            after: "mount -t tmpfs -o size=24m tmpfs '\(service.file("state"))'"
        )
    }

    private var folder: String { "/proc/\(process.pid)/root\(service.file("state"))" }

    /// Fills the file system completely.
    func fillDisk() throws {
        let descriptor = open("\(folder)/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(folder)/ballast") }

    func storedPoints() async throws -> Int {
        let output = try await Tool.run(
            "nsenter",
            "-t",
            "\(process.pid)",
            "-m",
            Programs.sqlite,
            "-readonly",
            service.paths.database,
            "SELECT count(*) FROM point"
        )
        let text = String(decoding: output, as: UTF8.self)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(text)")
    }

    func end() async throws {
        process.kill(SIGTERM)
        try await process.waitForEnd()
    }
}
