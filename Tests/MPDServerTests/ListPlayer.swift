import BackgrounderAPI
import FoundationEssentials
import MPDServer

/// A player without sound: a queue and the last requested state.
actor ListPlayer: MPDPlayer {
    private let hub: MPDHub
    private var audio = AudioStatus(
        timeControlStatus: .stopped,
        driver: "null",
        volume: 100,
        repeat: false,
        single: .off,
        consume: false,
        random: false,
        underruns: 0,
        interruptions: 0,
        since: Date()
    )
    private var items: [PlayerItem] = []
    private var changedAt: [Int: Int] = [:]
    private var version = 1
    private var nextID = 1

    init(hub: MPDHub) {
        self.hub = hub
    }

    func status() -> MPDPlayerStatus {
        let next = audio.currentItem.flatMap { $0.position + 1 < items.count ? items[$0.position + 1] : nil }
        return MPDPlayerStatus(audio: audio, queueVersion: version, queueLength: items.count, nextItem: next)
    }

    func play() {
        change {
            $0.timeControlStatus = .playing; $0.currentItem = $0.currentItem ?? items.first
        }
    }

    func play(id: Int) throws(MPDPlayerError) {
        guard let item = item(id: id) else { throw .noSuchItem }
        change { ($0.timeControlStatus, $0.currentItem, $0.elapsed) = (.playing, item, 0) }
    }

    func pause() { change { $0.timeControlStatus = .paused } }
    func stop() { change { ($0.timeControlStatus, $0.elapsed) = (.stopped, nil) } }
    func next() throws(MPDPlayerError) { try step(1) }
    func previous() throws(MPDPlayerError) { try step(-1) }

    private func step(_ count: Int) throws(MPDPlayerError) {
        guard audio.timeControlStatus != .stopped, let current = audio.currentItem else { throw .notPlaying }
        let item = items.indices.contains(current.position + count) ? items[current.position + count] : current
        try play(id: item.id)
    }

    func seek(id: Int, to seconds: Double) throws(MPDPlayerError) {
        guard let item = item(id: id) else { throw .noSuchItem }
        change { status in
            (status.currentItem, status.elapsed) = (item, seconds)
            if status.timeControlStatus == .stopped { status.timeControlStatus = .playing }
        }
    }

    func set(_ change: MPDOptionChange) {
        self.change { audio in
            audio.volume = change.volume ?? audio.volume
            audio.repeat = change.repeat ?? audio.repeat
            audio.random = change.random ?? audio.random
            audio.single = change.single ?? audio.single
            audio.consume = change.consume ?? audio.consume
            audio.replayGain = change.replayGain ?? audio.replayGain
            audio.outputEnabled = change.outputEnabled ?? audio.outputEnabled
        }
    }

    func fail(_ reason: String) {
        change { $0.lastError = PlaybackError(path: "/x.mp3", reason: reason, timestamp: Date()) }
    }

    func wait(_ reason: String) {
        change { ($0.timeControlStatus, $0.device, $0.elapsed, $0.bitrate) = (.waiting, reason, 1.5, 192) }
    }

    func clearError() { change { $0.lastError = nil } }

    private func change(_ body: (inout AudioStatus) -> Void) {
        body(&audio)
        hub.playerChanged()
    }

    func items(in range: Range<Int>) -> [PlayerItem] { Array(items[range.clamped(to: 0..<items.count)]) }
    func item(id: Int) -> PlayerItem? { items.first { $0.id == id } }
    func items(changedSince version: Int) -> [PlayerItem] {
        items.filter { version > self.version || changedAt[$0.id] ?? 0 > version }
    }

    func add(_ paths: [String], at position: Int?) -> [Int] {
        let new = paths.enumerated().map {
            PlayerItem(id: nextID + $0, position: 0, path: $1, title: "T\(nextID + $0)")
        }
        nextID += new.count
        edit { $0.insert(contentsOf: new, at: position ?? $0.count) }
        return new.map(\.id)
    }

    func remove(positions: Range<Int>) { edit { $0.removeSubrange(positions) } }

    func remove(id: Int) throws(MPDPlayerError) {
        guard let item = item(id: id) else { throw .noSuchItem }
        edit { $0.remove(at: item.position) }
    }

    func move(_ range: Range<Int>, to position: Int) {
        edit { items in
            let moved = items[range]
            items.removeSubrange(range)
            items.insert(contentsOf: moved, at: position)
        }
    }

    func swap(id: Int, with other: Int) throws(MPDPlayerError) {
        guard let first = item(id: id), let second = item(id: other) else { throw .noSuchItem }
        edit { $0.swapAt(first.position, second.position) }
    }

    func shuffle(_ range: Range<Int>) { edit { $0[range].reverse() } }
    func clear() { edit { $0 = [] } }

    func prioritise(ids: [Int], _ priority: Int) throws(MPDPlayerError) {
        guard ids.allSatisfy({ item(id: $0) != nil }) else { throw .noSuchItem }
        edit { items in
            for index in items.indices where ids.contains(items[index].id) {
                items[index].priority = priority == 0 ? nil : priority
            }
        }
    }

    private func edit(_ body: (inout [PlayerItem]) -> Void) {
        let before = items
        body(&items)
        version += 1
        for index in items.indices {
            items[index].position = index
            if !before.indices.contains(index) || before[index].id != items[index].id {
                changedAt[items[index].id] = version
            }
        }
        audio.currentItem = audio.currentItem.flatMap { item(id: $0.id) }
        hub.playerChanged()
    }
}
