import BackgrounderAPI
import FoundationEssentials

extension MPDCommand {
    /// Queries of the queue.
    static let queueCommands: [MPDCommand] = [
        MPDCommand("playlistinfo", 0...1) { session, arguments in
            let range = arguments.count == 0 ? .all : try arguments.range(0)
            try await session.putItems(session.clip(range))
        },
        MPDCommand("playlistid", 0...1) { session, arguments in
            guard arguments.count == 1 else { return try await session.putItems(session.clip(.all)) }
            let id = try arguments.integer(0, in: MPDNumber.unsigned)
            guard let item = await session.context.player.item(id: id) else { throw MPDError.noSuchSong }
            try await session.put([item])
        },
        MPDCommand("playlist") { session, _ in
            let length = await session.context.player.status().queueLength
            for item in await session.context.player.items(in: 0..<length) {
                session.put("\(item.position):file", session.shownPath(of: item.path))
                try await session.drain()
            }
        },
        MPDCommand("plchanges", 1...2) { session, arguments in
            try await session.put(session.changes(arguments))
        },
        MPDCommand("plchangesposid", 1...2) { session, arguments in
            for item in try await session.changes(arguments) {
                session.put("cpos", item.position)
                session.put("Id", item.id)
                try await session.drain()
            }
        },
        MPDCommand("playlistfind", 1...Int.max) { session, arguments in
            try await session.putItems(passing: arguments, isCaseSensitive: true)
        },
        MPDCommand("playlistsearch", 1...Int.max) { session, arguments in
            try await session.putItems(passing: arguments, isCaseSensitive: false)
        },
    ]
}

extension MPDSession {
    /// Returns the part of `range` within the queue. Throws "Bad song index" if it begins after the end.
    func clip(_ range: MPDRange) async throws(MPDError) -> Range<Int> {
        try range.clipped(to: await context.player.status().queueLength)
    }

    /// Returns a path as clients see it: relative inside the music directory, absolute elsewhere.
    func shownPath(of path: String) -> String { context.database?.relativePath(of: path) ?? path }

    /// Returns the items that changed since a version, limited to a range of positions if there is one.
    fileprivate func changes(_ arguments: MPDArguments) async throws -> [PlayerItem] {
        let version: Int
        do throws(MPDError) {
            version = try arguments.integer(0, in: 0...Int(UInt32.max))
        } catch {
            // A number out of range counts as a version that is too old.
            guard error.text.hasPrefix("Number") else { throw error }
            version = 0
        }
        let range = arguments.count > 1 ? try arguments.range(1) : .all
        let items = await context.player.items(changedSince: version)
        return items.filter { $0.position >= range.start && $0.position < range.end ?? .max }
    }

    fileprivate func putItems(passing arguments: MPDArguments, isCaseSensitive: Bool) async throws {
        var parser = MPDFilterParser(isCaseSensitive: isCaseSensitive)
        let filter = try parser.parse(arguments.values)
        let length = await context.player.status().queueLength
        for start in stride(from: 0, to: length, by: 500) {
            let items = await context.player.items(in: start..<min(start + 500, length))
            let passing = zip(items, try await songs(of: items)).filter { item, song in
                filter.matches(song ?? Song(item, path: shownPath(of: item.path)))
            }
            try await put(passing.map(\.0))
        }
    }
}

extension Song {
    /// Creates a song from an item outside of the database.
    fileprivate init(_ item: PlayerItem, path: String) {
        self.init(
            path: path,
            modified: .distantPast,
            duration: item.duration,
            sampleRate: item.sampleRate,
            channels: item.channels,
            tags: item.tags
        )
    }
}
