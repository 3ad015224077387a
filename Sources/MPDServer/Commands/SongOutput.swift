import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The output of songs and queue items.
extension MPDSession {
    /// The number of songs that are looked up together. Tuned: bounds the memory for a long queue.
    private static var batch: Int { 500 }

    /// Sends a song of the database, with the tags that the client wants.
    func put(_ song: Song) {
        put("file", song.path)
        put("Last-Modified", song.modified.seconds)
        putFormat(song.sampleRate, song.channels)
        for tag in song.tags where tags.contains(tag.name) { put(tag.name.rawValue, tag.value) }
        putDuration(song.duration)
    }

    /// Sends items of the queue, with their positions and ids.
    func put(_ items: [PlayerItem]) async throws {
        for start in stride(from: 0, to: items.count, by: Self.batch) {
            let part = items[start..<min(start + Self.batch, items.count)]
            for (item, song) in zip(part, try await songs(of: part)) {
                put(item, song)
                try await drain()
            }
        }
    }

    /// Sends the items at these positions, one batch at a time.
    func putItems(_ range: Range<Int>) async throws {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.batch) {
            try await put(context.player.items(in: start..<min(start + Self.batch, range.upperBound)))
        }
    }

    private func put(_ item: PlayerItem, _ song: Song?) {
        if let song {
            put(song)
        } else {
            put("file", context.database?.relativePath(of: item.path) ?? item.path)
            putFormat(item.sampleRate, item.channels)
            for tag in item.tags where tags.contains(tag.name) { put(tag.name.rawValue, tag.value) }
            putDuration(item.duration)
        }
        put("Pos", item.position)
        put("Id", item.id)
        if let priority = item.priority { put("Prio", priority) }
    }

    /// Returns the database's songs for the items; `nil` for items outside of the music directory and for files that
    /// were not scanned yet.
    func songs(of items: some Collection<PlayerItem>) async throws -> [Song?] {
        guard let database = context.database else { return items.map { _ in nil } }
        let paths = items.map { database.relativePath(of: $0.path) }
        let songs = try await database.songs(at: paths.compactMap(\.self))
        return paths.map { path in path.flatMap { songs[$0] } }
    }

    private func putFormat(_ rate: Int?, _ channels: Int?) {
        if let rate, let channels { put("Format", "\(rate):16:\(channels)") }
    }

    private func putDuration(_ seconds: Double?) {
        guard let seconds else { return }
        put("Time", Int(seconds.rounded()))
        put("duration", seconds.thousandths)
    }
}

extension PlayerItem {
    var tags: [SongTag] {
        [(SongTagName.artist, artist), (.title, title), (.album, album), (.name, station)]
            .compactMap { name, value in value.map { SongTag(name, $0) } }
    }
}

extension Date {
    /// The time in ISO 8601 with whole seconds, as MPD writes it.
    var seconds: String { ISO8601.string(self).prefix(19) + "Z" }
}
