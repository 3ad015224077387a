import BackgrounderAPI

extension MPDCommand {
    /// Browses and updates the music directory.
    static let databaseCommands: [MPDCommand] = [
        MPDCommand("listmounts") { session, _ in
            session.put("mount", "")
            let directory = try session.requireDatabase().directory
            // Clients on other machines must not see paths of this one.
            let isShown = session.permissions.contains(.admin)
            session.put("storage", isShown ? directory : String(directory.split(separator: "/").last ?? ""))
        },
        MPDCommand("lsinfo", 0...1) { session, arguments in
            let database = try session.requireDatabase()
            let path = try folder(arguments)
            if !path.isEmpty, let song = try await session.song(path) { return session.put(song) }
            for entry in try await database.entries(in: path).inMPDsOrder {
                session.put(entry, isLong: true)
                try await session.drain()
            }
            guard path.isEmpty else { return }
            for playlist in try await database.playlists() { session.put(playlist) }
        },
        MPDCommand("listall", 0...1) { session, arguments in
            try await session.putTree(below: folder(arguments), isLong: false)
        },
        MPDCommand("listallinfo", 0...1) { session, arguments in
            try await session.putTree(below: folder(arguments), isLong: true)
        },
        MPDCommand("update", 0...1) { session, arguments in try await session.update(arguments, rescan: false) },
        MPDCommand("rescan", 0...1) { session, arguments in try await session.update(arguments, rescan: true) },
    ]

    /// Returns the path that the arguments name; "" for the music directory itself.
    private static func folder(_ arguments: MPDArguments) throws(MPDError) -> String {
        guard let path = arguments.optional(0), !path.isEmpty, path != "/" else { return "" }
        guard path.isRelativePath else { throw .noSuchDirectory }
        return path
    }
}

extension MPDSession {
    /// Returns the song at `path`; `nil` if there is none.
    func song(_ path: String) async throws -> Song? {
        do {
            return try await requireDatabase().song(path)
        } catch MPDDatabaseError.noSuchEntry {
            return nil
        }
    }

    fileprivate func putTree(below path: String, isLong: Bool) async throws {
        let database = try requireDatabase()
        if !path.isEmpty, let song = try await song(path) {
            return put(.song(song), isLong: isLong)
        }
        // Like MPD, the answer includes the folder itself, unless it is the music directory.
        let entries = try await database.tree(below: path)
        for entry in entries {
            put(entry, isLong: isLong)
            try await drain()
        }
    }

    fileprivate func put(_ entry: MPDEntry, isLong: Bool) {
        switch entry {
        case .folder(let path, let modified):
            put("directory", path)
            if isLong, let modified { put("Last-Modified", modified.seconds) }
        case .song(let song): isLong ? put(song) : put("file", song.path)
        case .playlist(let playlist):
            if isLong { put(playlist) } else { put("playlist", playlist.name) }
        }
    }

    func put(_ playlist: MPDPlaylist) {
        put("playlist", playlist.name)
        put("Last-Modified", playlist.modified.seconds)
    }

    fileprivate func update(_ arguments: MPDArguments, rescan: Bool) async throws {
        let path = arguments.optional(0) ?? ""
        guard path.isEmpty || path == "/" || path.isRelativePath else { throw MPDError(.argument, "Malformed path") }
        let job = try await requireDatabase().update(path == "/" ? "" : path, rescan: rescan)
        put("updating_db", job)
    }
}

extension [MPDEntry] {
    /// The entries in MPD's order: songs, then playlists, then folders, each in their present order.
    fileprivate var inMPDsOrder: [MPDEntry] {
        filter { if case .song = $0 { true } else { false } }
            + filter { if case .playlist = $0 { true } else { false } }
            + filter { if case .folder = $0 { true } else { false } }
    }
}
