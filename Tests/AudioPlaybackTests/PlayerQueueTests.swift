import BackgrounderAPI
import MediaFiles
import SystemSupport
import Testing

@testable import AudioPlayback

@Suite struct PlayerQueueTests {
    private func queue(_ count: Int, _ options: PlayerOptions = PlayerOptions(), current: Int? = nil) throws
        -> PlayerQueue
    {
        var queue = PlayerQueue(state: PlayerState(options: options), seed: 7)
        _ = try queue.insert(paths: (0..<count).map { "/\($0)" })
        if let current { try queue.select(id: current) }
        return queue
    }

    @Test func `ids are never reused, even after a restart`() throws {
        var queue = try queue(3)
        try queue.remove(ids: [3])
        #expect(try queue.insert(paths: ["/x"]).map(\.id) == [4])
        try queue.remove(ids: [4])
        var restarted = PlayerQueue(items: queue.items, state: PlayerState(nextItemID: queue.nextItemID))
        #expect(try restarted.insert(paths: ["/y"]).map(\.id) == [5])
    }

    @Test func `a full queue refuses more items and stays unchanged`() throws {
        var queue = try queue(2)
        let paths = Array(repeating: "/x", count: PlayerQueue.most - 1)
        #expect(throws: PlayerError.queueFull(limit: PlayerQueue.most)) { try queue.insert(paths: paths) }
        #expect(queue.count == 2)
        _ = try queue.insert(paths: Array(paths.dropLast()))
        #expect(throws: PlayerError.queueFull(limit: PlayerQueue.most)) { try queue.insert(paths: ["/x"], at: 0) }
        #expect(queue.count == PlayerQueue.most)
    }

    @Test func `positions count from 0 after any change`() throws {
        var queue = try queue(5)
        _ = try queue.insert(paths: ["/a", "/b"], at: 1)
        _ = try queue.move(id: 5, to: 0)
        try queue.remove(ids: [2])
        try queue.shuffle()
        #expect(queue.items.map(\.position) == Array(0..<6))
        #expect(Set(queue.items.map(\.id)) == [1, 3, 4, 5, 6, 7])
    }

    @Test func `a move puts the item at the given position`() throws {
        var queue = try queue(4)
        #expect(try queue.move(id: 1, to: 3).position == 3)
        #expect(queue.items.map(\.id) == [2, 3, 4, 1])
        #expect(try queue.move(id: 1, to: 0).position == 0)
        #expect(queue.items.map(\.id) == [1, 2, 3, 4])
        #expect(throws: PlayerError.invalidPosition(4, count: 4)) { try queue.move(id: 1, to: 4) }
        #expect(throws: PlayerError.noSuchItem(id: 9)) { try queue.move(id: 9, to: 0) }
        #expect(throws: PlayerError.invalidPosition(5, count: 4)) { try queue.insert(paths: ["/"], at: 5) }
    }

    @Test func `the queue stops after the last item, or starts over with repeat`() throws {
        var once = try queue(2, current: 2)
        #expect(once.finishCurrent() == .stop)
        #expect(once.currentID == nil)
        var round = try queue(2, PlayerOptions(repeat: true), current: 2)
        #expect(round.finishCurrent() == .play(1))
    }

    @Test func `single pauses at the start of the next item`() throws {
        var queue = try queue(3, PlayerOptions(single: .on), current: 1)
        #expect(queue.finishCurrent() == .pause(2))
        #expect(queue.options.single == .on)
    }

    @Test func `oneshot pauses at the start of the next item once`() throws {
        var queue = try queue(3, PlayerOptions(single: .oneshot), current: 1)
        #expect(queue.finishCurrent() == .pause(2))
        #expect(queue.options.single == .off)
        #expect(queue.finishCurrent() == .play(3))
    }

    @Test func `single with repeat loops the item, and next leaves it`() throws {
        var queue = try queue(3, PlayerOptions(repeat: true, single: .on), current: 2)
        #expect(queue.finishCurrent() == .play(2))
        #expect(queue.next() == .play(3))
    }

    @Test func `consume removes items that ended or were skipped, but not on previous`() throws {
        var queue = try queue(4, PlayerOptions(consume: true), current: 1)
        #expect(queue.finishCurrent() == .play(2))
        #expect(queue.next() == .play(3))
        #expect(queue.items.map(\.id) == [3, 4])
        _ = queue.next()
        #expect(queue.previous() == .play(4))
        #expect(queue.finishCurrent() == .stop)
        #expect(queue.items.isEmpty)
    }

    @Test func `consume with repeat stops when the queue is empty`() throws {
        var queue = try queue(2, PlayerOptions(repeat: true, consume: true), current: 2)
        #expect(queue.finishCurrent() == .play(1))
        #expect(queue.finishCurrent() == .stop)
    }

    @Test func `previous goes back one item; from the first it stays or, with repeat, goes to the last`() throws {
        var queue = try queue(3, current: 2)
        #expect(queue.previous() == .play(1))
        #expect(queue.previous() == .play(1))
        queue.set(PlayerOptions(repeat: true))
        #expect(queue.previous() == .play(3))
    }

    @Test func `random plays each item once, and a copy of the queue predicts the order`() throws {
        var queue = try queue(20, PlayerOptions(random: true), current: nil)
        _ = queue.selectFirst()
        var ahead = queue
        var heard = [try #require(queue.currentID)]
        while case .play(let id) = queue.finishCurrent() {
            #expect(ahead.finishCurrent() == .play(id))
            heard.append(id)
        }
        #expect(heard.sorted() == Array(1...20))
        #expect(heard != Array(1...20))
    }

    @Test func `a new random round does not begin with the item that ended the last one`() throws {
        for seed in 0..<50 {
            var queue = PlayerQueue(
                state: PlayerState(options: PlayerOptions(repeat: true, random: true)),
                seed: UInt64(seed)
            )
            _ = try queue.insert(paths: ["/a", "/b", "/c"])
            _ = queue.selectFirst()
            for _ in 0..<9 {
                let before = queue.currentID
                _ = queue.finishCurrent()
                #expect(queue.currentID != before)
            }
        }
    }

    @Test func `previous goes back along the random order`() throws {
        var queue = try queue(9, PlayerOptions(random: true))
        let first = queue.selectFirst()?.id
        let second = queue.next()
        #expect(second != .stop)
        #expect(queue.previous() == first.map(PlayerQueue.Outcome.play))
        #expect(queue.next() == second)
    }

    @Test func `items that are added while random is on are played in the same round`() throws {
        var queue = try queue(3, PlayerOptions(random: true))
        _ = queue.selectFirst()
        _ = queue.next()
        _ = try queue.insert(paths: ["/x", "/y"])
        var rest = 0
        while case .play = queue.finishCurrent() { rest += 1 }
        #expect(rest == 3)
    }

    @Test func `removing the current item makes the next one current`() throws {
        var queue = try queue(3, current: 2)
        try queue.remove(ids: [2])
        #expect(queue.currentID == 3)
        try queue.remove(ids: [3])
        #expect(queue.currentID == nil)
        #expect(throws: PlayerError.noSuchItem(id: 3)) { try queue.remove(ids: [3]) }
    }

    @Test func `shuffling moves the current item to the front and loses none`() throws {
        var queue = try queue(30, current: 17)
        try queue.shuffle()
        #expect(queue.items.first?.id == 17)
        #expect(queue.items.map(\.id).sorted() == Array(1...30))
        #expect(queue.items.map(\.id) != [17] + (1...30).filter { $0 != 17 })
    }

    @Test func `the action at an item's end can be pause or none`() throws {
        var pauses = try queue(2, PlayerOptions(actionAtItemEnd: .pause), current: 1)
        #expect(pauses.finishCurrent() == .pause(2))
        var stays = try queue(2, PlayerOptions(actionAtItemEnd: .none), current: 1)
        #expect(stays.finishCurrent() == .stay(1))
        #expect(stays.currentID == 1)
    }

    @Test func `an unplayable item is skipped and, even with consume, kept`() throws {
        var queue = try queue(2, PlayerOptions(consume: true), current: 1)
        #expect(queue.skipUnplayable() == .play(2))
        #expect(queue.items.count == 2)
        #expect(queue.skipUnplayable() == .stop)
    }

    @Test(arguments: [
        ["2.wav", "9.wav", "010.wav", "Track 2.mp3", "track 2b.mp3", "track 10.mp3", "track.mp3"],
        ["0", "00", "000", "001", "01", "1", "2", "10"], ["A", "a", "a1", "A2", "b"],
        ["99999999999999999999998", "99999999999999999999999", "100000000000000000000000"],
        ["x" + String(repeating: "9", count: 200), "x1" + String(repeating: "0", count: 200)],
        ["1.2.9", "1.2.10", "1.10.1"], ["e\u{301}1", "\u{E9}2", "e\u{301}10"],
        ["Ärger 2", "ärger 10", "日本 3", "日本 20"],
        ["", " ", "-1", "1", "a"],
    ])
    func `names sort by the value of their numbers, regardless of case and normalization`(names: [String]) {
        for _ in 0..<5 { #expect(names.shuffled().map(NaturalName.init).sorted().map(\.name) == names) }
    }

    @Test func `an unknown driver is refused with a list of the known ones`() throws {
        #expect(try AudioDriverName("auto") == .auto)
        #expect(try AudioDriverName("wav:/a:b.wav") == .wav("/a:b.wav"))
        #expect(try AudioDriverName("pulse") == .live("pulse"))
        for text in ["", "wav", "wav:", "pulze", "null:x"] {
            let error = #expect(throws: PlayerError.self) { try AudioDriverName(text) }
            #expect(error?.description.contains("pulse") == true)
        }
    }
}
