import Foundation
import SystemSupport
import TestSupport
import Testing

/// The music database of a running service.
@Suite(.sharing) struct MusicTests {
    @Test func `after kills during a scan of the music directory, the next start completes it`()
        async throws
    {
        let service = try Service(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=1")
        let music = service.file("music")
        try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
        let song = "\(music)/0.wav"
        try await Tool.run("sox", "-D", "-n", "-r", "8000", "-b", "16", song, "synth", "0.1", "sine", "440")
        for index in 1..<1_000 { try FileManager.default.linkItem(atPath: song, toPath: "\(music)/\(index).wav") }
        // The music directory is relative to the configuration's folder.
        try service.configure(yaml: "modes: [audio]\naudio: {driver: \"null\", musicDirectory: music/}\n")
        for _ in 0..<3 {
            try await service.start()
            try await service.crash()
        }
        try await service.start()
        try await FileWatch(service.paths.log).wait(for: "Music database: 1000 songs;", within: 60)
        try await service.run("stop")
        let found = service.logLines().filter { $0.contains("Music database:") }
        #expect(
            found.count <= 4,
            "\(found)"
        )
        #expect(
            found.allSatisfy { $0.contains("1000 songs") && $0.contains(" 0 removed") },
            "\(found)"
        )
    }
}
