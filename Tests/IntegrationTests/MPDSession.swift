import Foundation
import TestSupport
import Testing

/// A music directory that both players share.
struct MPDMusic {
    let scratch: ScratchDirectory
    /// Writes a playlist. MPD has its playlists in another folder, so that each player changes only its own. Both files
    /// have the same modification time, as the replies contain it.
    static func mix(in scratch: ScratchDirectory, at name: String) throws {
        let path = try scratch.write("albums/one/01.flac\nextra/plain.wav\n", to: name)
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    var path: String { scratch.file("music") }

    init() async throws {
        scratch = try ScratchDirectory()
        for folder in ["music/albums/one", "music/albums/two", "music/extra"] {
            try FileManager.default.createDirectory(atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        try await song("albums/one/01", 30, ["TITLE=First", "ARTIST=Ann", "ALBUM=One", "TRACKNUMBER=1", "GENRE=Jazz"])
        try await song("albums/one/02", 30, ["TITLE=Second \"song\"", "ARTIST=Ann", "ALBUM=One", "TRACKNUMBER=2"])
        try await song("albums/two/01", 3, ["TITLE=Third", "ARTIST=Bob", "ALBUM=Two", "TRACKNUMBER=1"])
        try await Tool.run(
            "sox",
            "-n",
            "-r",
            "22050",
            "-b",
            "16",
            "-c",
            "1",
            scratch.file("music/extra/plain.wav"),
            "synth",
            "2.5",
            "sine",
            "330"
        )
        try scratch.write("\u{89}PNG and the rest", to: "music/albums/one/cover.png")
        try Self.mix(in: scratch, at: "music/mix.m3u")
    }

    private func song(_ name: String, _ seconds: Int, _ tags: [String]) async throws {
        let wave = scratch.file("song.wav")
        try await Tool.run(
            "sox",
            "-n",
            "-r",
            "44100",
            "-b",
            "16",
            "-c",
            "2",
            wave,
            "synth",
            "\(seconds)",
            "sine",
            "440"
        )
        let words = ["flac", "-s", "-f", "-o", scratch.file("music/\(name).flac")]
        try await Tool.run(words: words + tags.flatMap { ["-T", $0] } + [wave])
    }
}

/// The real MPD, on its own socket.
final class RealMPD: Sendable {
    let socket: String
    private let scratch: ScratchDirectory
    private let process: ForegroundProcess

    /// Returns when MPD accepts connections.
    init(music: MPDMusic) async throws {
        scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: scratch.file("lists"), withIntermediateDirectories: true)
        try MPDMusic.mix(in: scratch, at: "lists/mix.m3u")
        socket = scratch.file("sock")
        let configuration = try scratch.write(
            """
            music_directory "\(music.path)"
            playlist_directory "\(scratch.file("lists"))"
            db_file "\(scratch.file("db"))"
            sticker_file "\(scratch.file("stickers"))"
            log_file "\(scratch.file("log"))"
            bind_to_address "\(socket)"
            zeroconf_enabled "no"
            audio_output {
                type "null"
                name "null"
                mixer_type "software"
            }

            """,
            to: "mpd.conf"
        )
        process = try Tool.start("mpd", "--no-daemon", "--stderr", configuration)
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            if let descriptor = try? connectUnix(socket) {
                close(descriptor)
                return
            }
            try #require(ContinuousClock.now < deadline, "MPD does not start")
            await pause(seconds: 0.05)
        }
    }
}

extension Service {
    /// Creates a service without sound output that uses MPD's music directory; nothing runs yet.
    convenience init(music: MPDMusic, more: [String] = []) throws {
        try self.init(source: "gpx:\(Products.repository("tracks/city-walk.gpx"))?rate=1")
        let lines = [
            "modes: [audio]", "audio:", "  driver: \"null\"", "  musicDirectory: \(music.path)", "  autoplay: false",
        ]
        try configure(yaml: (lines + more).joined(separator: "\n") + "\n")
    }
}

/// A reply that may differ from MPD's, with the reason.
struct AllowedDifference {
    /// The beginning of the line in the transcript.
    var step: String
    /// A part of MPD's line; empty if each line of the step may differ.
    var theirs: String
    var reason: String

    init(_ step: String, theirs: String = "", _ reason: String) {
        self.step = step
        self.theirs = theirs
        self.reason = reason
    }

    func covers(_ own: String, _ other: String) -> Bool {
        own.hasPrefix(step) && other.hasPrefix(step) && (theirs.isEmpty || other.contains(theirs))
    }
}

/// Compares two transcripts line by line: they must differ in the lines of `allowed`, and only there.
func compare(
    _ ours: [String],
    _ theirs: [String],
    allowed: [AllowedDifference],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(ours.count == theirs.count, sourceLocation: sourceLocation)
    var used: Set<String> = []
    for (own, other) in zip(ours, theirs) where own != other {
        let difference = allowed.first { $0.covers(own, other) }
        if let difference { used.insert(difference.step) }
        #expect(difference != nil, "ours:  \(own)\nMPD's: \(other)", sourceLocation: sourceLocation)
    }
    let unused = allowed.map(\.step).filter { !used.contains($0) }
    #expect(unused.isEmpty, "allowed differences that do not occur", sourceLocation: sourceLocation)
}
