import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

@Suite struct LiveViewTests {
    private static func snapshot() -> StateSnapshot {
        let since = Date(timeIntervalSince1970: 1_763_708_149)
        let track = (0..<100).map { index in
            Location(
                latitude: 37.33482105 + Double(index) * 0.0001,
                longitude: -122.03350886 - Double(index) * 0.0002,
                altitude: 88.4,
                horizontalAccuracy: 5,
                accuracySource: .receiver,
                speed: 15.9,
                course: 255.94,
                timestamp: since.addingTimeInterval(Double(index)),
                segmentStart: index == 0 ? true : nil
            )
        }
        let queue = ["Harbour \u{1B}[2J Chimes", "日本の歌 とても長い題名のある曲 とても長い題名のある曲", "👩‍👩‍👧 e\u{301}"].enumerated().map {
            index,
            title in
            PlayerItem(
                id: index + 1,
                position: index,
                path: "/music/\(index)\n.mp3",
                title: title,
                artist: "A",
                album: "B",
                duration: 200
            )
        }
        let audio = AudioStatus(
            timeControlStatus: .playing,
            currentItem: queue[1],
            elapsed: 61.5,
            driver: "null",
            device: "no sound device",
            volume: 80,
            repeat: true,
            single: .off,
            consume: false,
            random: false,
            underruns: 0,
            interruptions: 0,
            since: since,
            lastError: PlaybackError(path: "/a", reason: "it is\u{7} damaged", timestamp: since)
        )
        let status = ServiceStatus(
            version: "0.1.0",
            pid: 7,
            state: .active,
            since: since,
            attached: 1,
            modes: [.audio, .location],
            location: LiveSample.location,
            audio: audio
        )
        return StateSnapshot(status: status, track: track, queue: queue)
    }

    private static let states: [LiveState] = {
        var full = LiveState()
        full.apply(.state(snapshot()))
        var empty = LiveState()
        var nothing = snapshot()
        (nothing.status.location, nothing.status.audio, nothing.track, nothing.queue) = (nil, nil, [], [])
        empty.apply(.state(nothing))
        var ended = full
        ended.apply(.currentItem(CurrentItem(item: nil)))
        return [full, empty, ended]
    }()

    private static func lines(_ state: LiveState, columns: Int, rows: Int) -> [String] {
        LiveScreen(state: state, view: ViewState(), columns: columns, rows: rows, charset: .unicode).lines()
    }

    @Test(arguments: [(80, 24), (40, 10), (200, 60), (81, 25), (30, 14), (120, 3), (13, 6), (500, 200)])
    func `the view has one line for each row of the terminal, each as wide as the terminal`(columns: Int, rows: Int) {
        for state in Self.states {
            let lines = Self.lines(state, columns: columns, rows: rows)
            #expect(lines.count == rows)
            for line in lines { #expect(line.columns == columns, "\(line)") }
            #expect(lines.joined().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }

    @Test func `no terminal size is too small`() {
        for columns in 1...30 {
            for rows in 1...16 {
                for state in Self.states {
                    let lines = Self.lines(state, columns: columns, rows: rows)
                    #expect(lines.count <= rows)
                    #expect(lines.allSatisfy { $0.columns <= columns })
                }
                #expect(Self.lines(LiveState(), columns: columns, rows: rows).allSatisfy { $0.columns <= columns })
            }
        }
    }

    @Test func `a terminal of 80 by 24 shows all four panels`() {
        let lines = Self.lines(Self.states[0], columns: 80, rows: 24)
        #expect(lines[0].hasPrefix("Backgrounder 0.1.0  active since 2025-11-21 06:55:49  1 attached"))
        #expect(lines[1].hasPrefix("┌ Audio ──"))
        #expect(lines[1].contains("┐┌ Location ──"))
        #expect(lines[2].hasPrefix("│ ▶ A: 日本の歌"))
        #expect(lines.contains { $0.contains("1:01 / 3:20") })
        #expect(lines.contains { $0.contains("playing, volume 80, null (no sound") })
        #expect(lines.contains { $0.contains("! it is\u{FFFD} damaged") })
        #expect(lines.contains { $0.contains("│    1. A: Harbour \u{FFFD}[2J Chimes    3:20 │") })
        #expect(lines.contains { $0.contains("│ ›▶ 2. A: 日本の歌 とても長い題… 3:20 │") })
        #expect(lines.contains { $0.contains("│ ── Queue, 2 of 3 ────") })
        #expect(lines.contains { $0.contains("best, every fix") })
        #expect(lines.contains { $0.contains("37.344721, -122.053309 ± 5 m") })
        #expect(lines.contains { $0.contains("15.9 m/s  course 256°  88 m high") })
        #expect(lines[20].hasPrefix("┌ Tasks ─"))
        #expect(lines[20].contains("┌ Fetch ─"))
        #expect(lines[21].hasPrefix("│ none "))
        #expect(lines[23].hasPrefix("space play/pause  ? help  q detach  n next  p previous"))
    }

    @Test func `events update the view`() {
        var state = Self.states[0]
        let fix = Location(latitude: -1, longitude: 2, timestamp: Date(timeIntervalSince1970: 1_763_709_000))
        state.apply(.location(fix))
        #expect(state.track.count == 100)
        #expect(state.track.last == fix)
        #expect(state.status?.location?.accepted == 1201)
        #expect(state.status?.location?.received == 1235)
        state.apply(.time(PlayerTime(itemID: 99, elapsed: 3)))
        #expect(state.status?.audio?.elapsed == 61.5)
        state.apply(.time(PlayerTime(itemID: 2, elapsed: 100, duration: 210)))
        #expect(state.status?.audio?.elapsed == 100)
        #expect(state.status?.audio?.currentItem?.duration == 210)
        state.apply(.lifecycle(LifecycleState(state: .inactive, attached: 2)))
        #expect(state.status?.state == .inactive)
        #expect(state.status?.attached == 2)
        state.apply(.currentItem(CurrentItem(item: nil)))
        #expect(state.status?.audio?.currentItem == nil)
        #expect(state.status?.audio?.elapsed == nil)
        #expect(Self.lines(state, columns: 80, rows: 24)[2].hasPrefix("│ not playing; space plays the queue   │"))
    }

    @Test func `an empty queue is shown as nothing to play`() {
        var snapshot = Self.snapshot()
        snapshot.queue = []
        snapshot.status.audio?.currentItem = nil
        var state = LiveState()
        state.apply(.state(snapshot))
        #expect(Self.lines(state, columns: 80, rows: 24)[2].hasPrefix("│ nothing to play "))
    }

    @Test func `a panel is a box with a title, cut and padded to its size`() {
        #expect(
            Panel(title: "Audio", lines: ["one", "日本日本", "gone"]).render(columns: 9, rows: 4) == [
                "┌ Audio ┐", "│ one   │", "│ 日本… │", "└───────┘",
            ]
        )
        #expect(Panel(title: "T", lines: []).render(columns: 6, rows: 2) == ["┌ T ─┐", "└────┘"])
        #expect(Panel.beside(["a", "b"], ["c", "d"]) == ["ac", "bd"])
    }
}

extension String {
    /// The columns on a terminal, counted without the code under test: two for East Asian characters and emoji.
    fileprivate var columns: Int {
        reduce(0) { sum, character in
            let value = character.unicodeScalars.first?.value ?? 0
            let isWide = (0x3000...0x30FF).contains(value) || (0x4E00...0x9FFF).contains(value) || value >= 0x1F000
            return sum + (isWide ? 2 : 1)
        }
    }
}
