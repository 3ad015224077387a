import BackgrounderAPI

extension MPDCommand {
    /// Playlists that are stored as files.
    static let storedPlaylistCommands: [MPDCommand] = [
        MPDCommand("listplaylists") { session, _ in
            for playlist in try await session.requireDatabase().playlists() { session.put(playlist) }
        },
        MPDCommand("listplaylist", 1) { session, arguments in
            for path in try await session.playlist(arguments[0]) {
                session.put("file", path)
                try await session.drain()
            }
        },
        MPDCommand("listplaylistinfo", 1) { session, arguments in
            let paths = try await session.playlist(arguments[0])
            let songs = try await session.requireDatabase().songs(at: paths)
            for path in paths {
                if let song = songs[path] { session.put(song) } else { session.put("file", path) }
                try await session.drain()
            }
        },
        MPDCommand("load", 1...3) { session, arguments in
            let range = arguments.count > 1 ? try arguments.range(1) : .all
            let position = try await session.insertion(arguments.optional(2))
            let paths = try await session.playlist(arguments[0])
            let database = try session.requireDatabase()
            let songs = try await database.songs(at: paths)
            let files = try paths[range.clipped(to: paths.count)].compactMap { path in
                StreamAddress.isSupported(path) ? path : songs[path].map { database.absolutePath(of: $0) }
            }
            if !files.isEmpty { _ = try await session.context.player.add(files, at: position) }
        },
        MPDCommand("save", 1) { session, arguments in
            let length = await session.context.player.status().queueLength
            let items = await session.context.player.items(in: 0..<length)
            try await session.requireDatabase().savePlaylist(arguments[0], items.map { session.shownPath(of: $0.path) })
        },
        MPDCommand("rm", 1) { session, arguments in
            try await session.requireDatabase().removePlaylist(arguments[0])
        },
        MPDCommand("rename", 2) { session, arguments in
            try await session.requireDatabase().renamePlaylist(arguments[0], to: arguments[1])
        },
        MPDCommand("playlistadd", 2...3) { session, arguments in
            // Checked first: a song that does not exist must not create a playlist.
            let new = try await session.songPaths(arguments[1])
            try await session.edit(arguments[0]) { paths in
                let position = arguments.count > 2 ? try arguments.integer(2, in: 0...paths.count) : paths.count
                paths.insert(contentsOf: new, at: position)
            }
        },
        MPDCommand("playlistclear", 1) { session, arguments in
            try await session.edit(arguments[0]) { $0 = [] }
        },
        MPDCommand("playlistdelete", 2) { session, arguments in
            let range = try arguments.range(1)
            try await session.edit(arguments[0], mayBeNew: false) { paths in
                guard range.start < paths.count else { throw MPDError(.argument, "Bad song index") }
                paths.removeSubrange(try range.clipped(to: paths.count))
            }
        },
        MPDCommand("playlistmove", 3) { session, arguments in
            let from = try arguments.integer(1, in: MPDNumber.unsigned)
            let to = try arguments.integer(2, in: MPDNumber.unsigned)
            try await session.edit(arguments[0], mayBeNew: false) { paths in
                guard paths.indices.contains(from), paths.indices.contains(to) else {
                    throw MPDError(.argument, "Bad range")
                }
                paths.insert(paths.remove(at: from), at: to)
            }
        },
        MPDCommand("searchaddpl", 2...Int.max) { session, arguments in
            let search = try MPDSearch(arguments.dropFirst(1), isCaseSensitive: false)
            let songs = try await search.songs(in: session.requireDatabase())
            try await session.edit(arguments[0]) { $0 += songs.map(\.path) }
        },
    ]
}

extension MPDSession {
    /// Returns the entries of a playlist. Like MPD, accepts its name with the extension too.
    fileprivate func playlist(_ name: String) async throws -> [String] {
        let database = try requireDatabase()
        do {
            return try await database.playlist(name)
        } catch let error as MPDDatabaseError {
            if name.hasSuffix(".m3u"), let paths = try? await database.playlist(String(name.dropLast(4))) {
                return paths
            }
            if case .failed = error { throw error }
            throw MPDDatabaseError.noSuchPlaylist(name)
        }
    }

    /// Changes a playlist and writes it.
    ///
    /// - Parameter mayBeNew: whether to create a playlist that does not exist.
    fileprivate func edit(
        _ name: String,
        mayBeNew: Bool = true,
        _ change: (inout [String]) throws -> Void
    ) async throws {
        let database = try requireDatabase()
        var paths: [String] = []
        do {
            paths = try await database.playlist(name)
        } catch MPDDatabaseError.noSuchPlaylist where mayBeNew {}
        try change(&paths)
        try await database.replacePlaylist(name, paths)
    }

    /// Returns the paths of the songs that `uri` names, relative to the music directory.
    fileprivate func songPaths(_ uri: String) async throws -> [String] {
        let database = try requireDatabase()
        if StreamAddress.isSupported(uri) { return [uri] }
        guard uri.isEmpty || uri.isRelativePath else { throw MPDError.noSuchDirectory }
        if !uri.isEmpty, try await song(uri) != nil { return [uri] }
        return try await database.tree(below: uri).compactMap { entry in
            if case .song(let song) = entry { song.path } else { nil }
        }
    }
}
