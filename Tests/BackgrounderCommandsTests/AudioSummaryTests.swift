import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

struct AudioSummaryTests {
    private static func status(_ item: PlayerItem?, elapsed: Double?) -> AudioStatus {
        AudioStatus(
            timeControlStatus: item == nil ? .stopped : .playing,
            currentItem: item,
            elapsed: elapsed,
            driver: "pulse",
            device: "default device",
            format: item == nil ? nil : "44100:16:2",
            buffered: item == nil ? 0 : 3.42,
            volume: 80,
            repeat: true,
            single: .off,
            consume: false,
            random: true,
            underruns: 0,
            interruptions: item == nil ? 0 : 1,
            since: Date(timeIntervalSince1970: 0)
        )
    }

    private static let item = PlayerItem(
        id: 3,
        position: 0,
        path: "/m/a.mp3",
        title: "Tune",
        artist: "Ann",
        duration: 40,
        sampleRate: 44_100,
        channels: 2,
        codec: "mp3"
    )

    @Test func `the status of a playing item has a bar as wide as the screen, the format and the health`() {
        #expect(
            Self.status(Self.item, elapsed: 10).details(columns: 42) == [
                "playing   Ann: Tune",
                "          ━━━━━─────────────── 0:10 / 0:40",
                "file      /m/a.mp3 (mp3, 44100 Hz, stereo)",
                "output    pulse (default device), 44100:16:2",
                "health    3.4 s buffered, no underruns, 1 interruption",
                "volume    80, repeat, random",
            ]
        )
    }

    @Test func `only settings that differ from the defaults are shown`() {
        var status = Self.status(nil, elapsed: nil)
        #expect(status.modes == ["repeat", "random"])
        (status.repeat, status.single, status.random, status.replayGain) = (false, .oneshot, false, .album)
        #expect(status.modes == ["single oneshot", "replay gain album"])
        #expect(status.lines.last == "volume 80, single oneshot, replay gain album, driver pulse (default device)")
        status.single = .on
        #expect(status.modes == ["single", "replay gain album"])
    }

    @Test func `a disabled output is shown with the command that enables it`() {
        var status = Self.status(Self.item, elapsed: 10)
        status.outputEnabled = false
        let remedy = "disabled; enable it with: backgrounder audio output on"
        #expect(status.details(columns: 80).contains("output    \(remedy)"))
        #expect(status.lines.contains("the output is \(remedy)"))
    }

    @Test func `without a playing item there is no bar, and unknown values are omitted`() {
        let lines = Self.status(nil, elapsed: nil).details(columns: 80)
        #expect(lines.first == "stopped   nothing")
        #expect(lines.count == 4)
        let unknown = PlayerItem(id: 1, position: 0, path: "/m/b")
        let bare = Self.status(unknown, elapsed: 1).details(columns: 5)
        #expect(bare[1] == "          ──── 0:01")
        #expect(bare[2] == "file      /m/b")
    }
}
