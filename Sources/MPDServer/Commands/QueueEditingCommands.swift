import BackgrounderAPI

extension MPDCommand {
    static let queueEditingCommands: [MPDCommand] = [
        MPDCommand("add", 1...2) { session, arguments in
            let position = try await session.insertion(arguments.optional(1))
            let paths = try await session.files(arguments[0])
            if !paths.isEmpty { _ = try await session.context.player.add(paths, at: position) }
        },
        MPDCommand("addid", 1...2) { session, arguments in
            let position = try await session.insertion(arguments.optional(1))
            let path = try await session.file(arguments[0])
            for id in try await session.context.player.add([path], at: position) { session.put("Id", id) }
        },
        MPDCommand("delete", 1) { session, arguments in
            let range = try await session.clip(arguments.range(0))
            if !range.isEmpty { try await session.context.player.remove(positions: range) }
        },
        MPDCommand("deleteid", 1) { session, arguments in
            try await session.context.player.remove(id: arguments.integer(0, in: 0...Int(UInt32.max)))
        },
        MPDCommand("clear") { session, _ in try await session.context.player.clear() },
        MPDCommand("move", 2) { session, arguments in
            let range = try arguments.range(0)
            guard let end = range.end else { throw MPDError(.argument, "Open-ended range not supported") }
            try await session.move(range.start..<end, arguments[1])
        },
        MPDCommand("moveid", 2) { session, arguments in
            let id = try arguments.integer(0, in: MPDNumber.unsigned)
            guard let item = await session.context.player.item(id: id) else { throw MPDError.noSuchSong }
            try await session.move(item.position..<item.position + 1, arguments[1])
        },
        MPDCommand("swap", 2) { session, arguments in
            let first = try await session.item(at: arguments.integer(0, in: MPDNumber.unsigned))
            let second = try await session.item(at: arguments.integer(1, in: MPDNumber.unsigned))
            try await session.context.player.swap(id: first.id, with: second.id)
        },
        MPDCommand("swapid", 2) { session, arguments in
            try await session.context.player.swap(
                id: arguments.integer(0, in: MPDNumber.unsigned),
                with: arguments.integer(1, in: MPDNumber.unsigned)
            )
        },
        MPDCommand("prio", 2...Int.max) { session, arguments in
            let priority = try arguments.integer(0, in: 0...255)
            var ids: [Int] = []
            for index in 1..<arguments.count {
                let range = try await session.clip(arguments.range(index))
                ids += await session.context.player.items(in: range).map(\.id)
            }
            try await session.context.player.prioritise(ids: ids, priority)
        },
        MPDCommand("prioid", 2...Int.max) { session, arguments in
            let priority = try arguments.integer(0, in: 0...255)
            let ids = try (1..<arguments.count).map { index throws(MPDError) in
                try arguments.integer(index, in: MPDNumber.unsigned)
            }
            try await session.context.player.prioritise(ids: ids, priority)
        },
        MPDCommand("shuffle", 0...1) { session, arguments in
            let range = try await session.clip(arguments.count == 0 ? .all : arguments.range(0))
            if range.count > 1 { try await session.context.player.shuffle(range) }
        },
    ]
}

extension MPDSession {
    /// Parses the position of an insertion: a number, or `+N` and `-N` relative to the current song.
    ///
    /// - Returns: the position; `nil` for the end of the queue.
    func insertion(_ text: String?) async throws(MPDError) -> Int? {
        guard let text else { return nil }
        let status = await context.player.status()
        switch text.utf8.first {
        case UInt8(ascii: "+"):
            let after = try current(status) + 1
            return after + (try MPDNumber.integer(String(text.dropFirst()), in: 0...max(0, status.queueLength - after)))
        case UInt8(ascii: "-"):
            let current = try current(status)
            return current - (try MPDNumber.integer(String(text.dropFirst()), in: 0...current))
        default: return try MPDNumber.integer(text, in: 0...status.queueLength)
        }
    }

    private func current(_ status: MPDPlayerStatus) throws(MPDError) -> Int {
        guard let current = status.audio.currentItem else { throw .noCurrentSong }
        return current.position
    }

    /// Moves songs to a position, which is counted without them or, as `+N` and `-N`, relative to the current song.
    fileprivate func move(_ range: Range<Int>, _ text: String) async throws {
        let status = await context.player.status()
        guard range.upperBound <= status.queueLength, !range.isEmpty else { throw MPDError.badSongIndex }
        let rest = status.queueLength - range.count
        let position: Int
        switch text.utf8.first {
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            var current = try current(status)
            guard !range.contains(current) else {
                throw MPDError(.argument, "Cannot move current song relative to itself")
            }
            if current >= range.upperBound { current -= range.count }
            let number = String(text.dropFirst())
            if text.hasPrefix("+") {
                position = current + 1 + (try MPDNumber.integer(number, in: 0...max(0, rest - current - 1)))
            } else {
                position = current - (try MPDNumber.integer(number, in: 0...current))
            }
        default: position = try MPDNumber.integer(text, in: 0...rest)
        }
        try await context.player.move(range, to: position)
    }

    /// Returns the absolute paths of the songs that `uri` names: one song, or all songs below a folder. An address of the
    /// network stands for itself.
    func files(_ uri: String) async throws -> [String] {
        if StreamAddress.isSupported(uri) { return [uri] }
        let database = try requireDatabase()
        let path = try uri == "/" ? "" : inside(uri, of: database)
        if !path.isEmpty {
            do { return [try await database.absolutePath(of: path)] } catch MPDDatabaseError.noSuchEntry {}
        }
        return try await database.tree(below: path).compactMap { entry in
            if case .song(let song) = entry { database.absolutePath(of: song) } else { nil }
        }
    }

    /// Returns the absolute path of the song that `uri` names. An address of the network stands for itself.
    func file(_ uri: String) async throws -> String {
        if StreamAddress.isSupported(uri) { return uri }
        let database = try requireDatabase()
        let path = try inside(uri, of: database)
        do {
            return try await database.absolutePath(of: path)
        } catch MPDDatabaseError.noSuchEntry {
            throw MPDError.noSuchSong
        }
    }

    /// Returns the path relative to the music directory. MPD clients cannot queue files outside of it; only the command
    /// `backgrounder` can.
    private func inside(_ uri: String, of database: any MPDDatabase) throws(MPDError) -> String {
        if uri.hasPrefix("file:") || uri.hasPrefix("/") {
            // Like MPD: a client on the Unix socket may use an absolute path. MPD decodes no escapes here.
            let path = uri.hasPrefix("file://") ? String(uri.dropFirst(7)) : uri
            guard peer == .local, let relative = database.relativePath(of: path),
                relative.isEmpty || relative.isRelativePath
            else {
                throw MPDError(.permission, "Access denied")
            }
            return relative
        }
        if uri.contains("://") { throw MPDError(.argument, "Unsupported URI scheme") }
        if !uri.isEmpty, !uri.isRelativePath { throw .noSuchDirectory }
        return uri
    }

    func requireDatabase() throws(MPDError) -> any MPDDatabase {
        guard let database = context.database else {
            throw MPDError(.noExist, "No database: audio.musicDirectory is not configured")
        }
        return database
    }
}
