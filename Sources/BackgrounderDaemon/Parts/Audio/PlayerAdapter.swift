import AudioPlayback
import BackgrounderAPI
import MPDServer
import MediaFiles

/// The player as MPD clients see it.
///
/// Commands of an undeclared mode are refused as on the control socket.
struct PlayerAdapter: MPDPlayer {
    let player: QueuePlayer
    let context: PartContext

    func status() async -> MPDPlayerStatus { await player.statusForMPD() }

    // MARK: Playing

    func play() async throws {
        try requireAudio()
        try await translating { _ = try await player.play() }
    }

    func play(id: Int) async throws {
        try requireAudio()
        try await translating { _ = try await player.play(id: id) }
    }

    func pause() async { _ = await player.pause() }
    func stop() async { _ = await player.stop() }

    func next() async throws {
        try requireAudio()
        try await translating { _ = try await player.next() }
    }

    func previous() async throws {
        try requireAudio()
        try await translating { _ = try await player.previous() }
    }

    func seek(id: Int, to seconds: Double) async throws {
        try requireAudio()
        try await translating { _ = try await player.seek(id: id, to: seconds) }
    }

    func set(_ change: MPDOptionChange) async throws {
        try await translating {
            _ = try await player.setOptions(
                volume: change.volume,
                repeat: change.repeat,
                single: change.single,
                consume: change.consume,
                random: change.random,
                replayGain: change.replayGain,
                outputEnabled: change.outputEnabled
            )
        }
    }

    func clearError() async { await player.clearError() }

    // MARK: The queue

    func items(in range: Range<Int>) async -> [PlayerItem] { await player.items(in: range) }
    func item(id: Int) async -> PlayerItem? { await player.item(id: id) }
    func items(changedSince version: Int) async -> [PlayerItem] { await player.items(changedSince: version) }

    func add(_ paths: [String], at position: Int?) async throws -> [Int] {
        try await translating {
            guard let position else { return try await player.append(paths).map(\.id) }
            return try await player.insert(paths, at: position).map(\.id)
        }
    }

    func remove(positions: Range<Int>) async throws {
        try await translating { try await player.remove(positions: positions) }
    }

    func remove(id: Int) async throws { try await translating { try await player.remove(id: id) } }

    func move(_ range: Range<Int>, to position: Int) async throws {
        try await translating { try await player.move(range, to: position) }
    }

    func swap(id: Int, with other: Int) async throws {
        try await translating { try await player.swap(id: id, with: other) }
    }

    func shuffle(_ range: Range<Int>) async throws { try await translating { try await player.shuffle(range) } }
    func prioritise(ids: [Int], _ priority: Int) async throws {
        try await translating { try await player.prioritise(ids: ids, priority) }
    }

    func clear() async throws { try await translating { try await player.clear() } }

    // MARK: Refusals

    private func requireAudio() throws(MPDPlayerError) {
        do throws(WireError) {
            try context.require(.audio)
        } catch {
            throw .failed(error.message)
        }
    }

    private func translating<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PlayerError {
            throw MPDPlayerError(error)
        } catch let error as MediaError {
            throw MPDPlayerError(error)
        }
    }
}

extension MPDPlayerError {
    fileprivate init(_ error: PlayerError) {
        switch error {
        case .emptyQueue, .stopped: self = .notPlaying
        case .noSuchItem: self = .noSuchItem
        case .invalidPosition: self = .badPosition
        case .queueFull: self = .queueFull
        default: self = .failed("\(error)")
        }
    }

    fileprivate init(_ error: MediaError) {
        switch error {
        case .noSuchPath(let path), .notPlayableKind(let path, _), .noMedia(let path): self = .noSuchFile(path)
        default: self = .failed("\(error)")
        }
    }
}

extension QueuePlayer {
    /// Returns a consistent snapshot of the player.
    fileprivate func statusForMPD() async -> MPDPlayerStatus {
        let audio = await status()
        return MPDPlayerStatus(
            audio: audio,
            queueVersion: queueVersion,
            queueLength: queueLength,
            nextItem: nextItem,
            playtime: playtime
        )
    }
}
