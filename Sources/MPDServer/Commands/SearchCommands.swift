import BackgrounderAPI

extension MPDCommand {
    /// Searches for songs by their tags.
    static let searchCommands: [MPDCommand] = [
        MPDCommand("find", 1...Int.max) { session, arguments in try await session.putFound(arguments, true) },
        MPDCommand("search", 1...Int.max) { session, arguments in try await session.putFound(arguments, false) },
        MPDCommand("findadd", 1...Int.max) { session, arguments in try await session.addFound(arguments, true) },
        MPDCommand("searchadd", 1...Int.max) { session, arguments in try await session.addFound(arguments, false) },
        MPDCommand("count", 1...Int.max) { session, arguments in try await session.putCounts(arguments) },
        MPDCommand("list", 1...Int.max) { session, arguments in try await session.putValues(arguments) },
    ]
}

/// The arguments of a search: `FILTER... [sort TAG] [window START:END] [position POSITION]`.
struct MPDSearch {
    let filter: SongFilter
    private(set) var sort: MPDSortKey?
    private(set) var window: MPDRange?
    private(set) var position: String?

    init(_ arguments: [String], isCaseSensitive: Bool, takesPosition: Bool = false) throws(MPDError) {
        var rest = arguments[...]
        if takesPosition { position = Self.takeOption("position", &rest) }
        if let text = Self.takeOption("window", &rest) { window = try MPDRange(text) }
        if let text = Self.takeOption("sort", &rest) { sort = try Self.sortKey(text) }
        var parser = MPDFilterParser(isCaseSensitive: isCaseSensitive)
        filter = try parser.parse(Array(rest))
    }

    private static func takeOption(_ name: String, _ rest: inout ArraySlice<String>) -> String? {
        guard rest.count >= 2, rest[rest.endIndex - 2] == name else { return nil }
        defer { rest.removeLast(2) }
        return rest.last
    }

    private static func sortKey(_ text: String) throws(MPDError) -> MPDSortKey? {
        let isDescending = text.hasPrefix("-")
        let name = isDescending ? String(text.dropFirst()) : text
        if name.lowercased() == "last-modified" { return .modified(descending: isDescending) }
        switch MPDTag(name) {
        case .known(let tag): return .tag(tag, descending: isDescending)
        case .other: return nil
        case nil: throw MPDError(.argument, "Unknown sort tag")
        }
    }

    func songs(in database: any MPDDatabase) async throws -> [Song] {
        try await database.songs(filter, sortedBy: sort, window: window.map { $0.start..<($0.end ?? Int(Int32.max)) })
    }
}

extension MPDSession {
    /// Returns the songs of a search. Throws if the filter names a folder that does not exist.
    private func find(_ search: MPDSearch) async throws -> [Song] {
        let database = try requireDatabase()
        for folder in search.filter.folders where !folder.isEmpty {
            if case .some = try await song(folder) { continue }
            _ = try await database.entries(in: folder)
        }
        return try await search.songs(in: database)
    }

    fileprivate func putFound(_ arguments: MPDArguments, _ isCaseSensitive: Bool) async throws {
        for song in try await find(MPDSearch(arguments.values, isCaseSensitive: isCaseSensitive)) {
            put(song)
            try await drain()
        }
    }

    fileprivate func addFound(_ arguments: MPDArguments, _ isCaseSensitive: Bool) async throws {
        let search = try MPDSearch(arguments.values, isCaseSensitive: isCaseSensitive, takesPosition: true)
        let position = try await insertion(search.position)
        let database = try requireDatabase()
        let paths = try await find(search).map { database.absolutePath(of: $0) }
        if !paths.isEmpty { _ = try await context.player.add(paths, at: position) }
    }

    fileprivate func putCounts(_ arguments: MPDArguments) async throws {
        let database = try requireDatabase()
        var rest = arguments.values
        var group: SongTagName?
        if rest.count >= 2, rest[rest.count - 2] == "group" {
            group = try groupTag(rest[rest.count - 1])
            rest.removeLast(2)
        }
        var filter = SongFilter.all
        if !rest.isEmpty || group == nil {
            var parser = MPDFilterParser(isCaseSensitive: true)
            filter = try parser.parse(rest)
        }
        let counts = try await database.counts(filter, groupedBy: group)
        for count in counts {
            if let group = count.group { put(group.name.rawValue, group.value) }
            put("songs", count.songs)
            put("playtime", Int(count.playtime))
        }
        if counts.isEmpty, group == nil {
            put("songs", 0)
            put("playtime", 0)
        }
    }

    private func groupTag(_ name: String) throws(MPDError) -> SongTagName {
        guard case .known(let tag) = MPDTag(name) else { throw MPDError(.argument, "Unknown tag type: \(name)") }
        return tag
    }

    // MARK: list

    /// Answers `list TAG [FILTER...] [group TAG]...`, and the older form `list album ARTIST`.
    fileprivate func putValues(_ arguments: MPDArguments) async throws {
        let database = try requireDatabase()
        var rest = arguments.dropFirst(1)
        let isFile = ["file", "filename"].contains(arguments[0].lowercased())
        let tag = MPDTag(arguments[0])
        guard tag != nil || isFile else { throw MPDError(.argument, "Unknown tag type: \(arguments[0])") }
        var groups: [SongTagName] = []
        while rest.count >= 2, rest[rest.count - 2] == "group" {
            let group = try groupTag(rest[rest.count - 1])
            // Like MPD. Otherwise a song with two artists would be in a group for each pair of them.
            guard tag != .known(group), !groups.contains(group) else { throw MPDError(.argument, "Conflicting group") }
            groups.insert(group, at: 0)
            rest.removeLast(2)
        }
        let filter: SongFilter
        if rest.isEmpty {
            filter = .all
        } else if rest.count == 1, !rest[0].hasPrefix("(") {
            guard tag == .known(.album) else { throw MPDError(.argument, "should be \"Album\" for 3 arguments") }
            filter = .tag(.artist, SongMatch(.equals, rest[0]))
        } else {
            var parser = MPDFilterParser(isCaseSensitive: true)
            filter = try parser.parse(rest)
        }
        switch tag {
        case .known(let tag):
            try await put(tag, database.values(of: tag, filter, groupedBy: groups), groups)
        case .other(let name):
            // No song has the tag, so all of them have the value "".
            if try await database.counts(filter, groupedBy: nil).contains(where: { $0.songs > 0 }) { put(name, "") }
        case nil:
            for song in try await database.songs(filter, sortedBy: nil, window: nil) {
                put("file", song.path)
                try await drain()
            }
        }
    }

    /// Sends grouped values: the tag named last is the outermost group, with a line wherever its value changes.
    private func put(_ tag: SongTagName, _ values: [MPDTagValues], _ groups: [SongTagName]) async throws {
        func path(_ value: MPDTagValues) -> [String] {
            groups.reversed().map { name in value.group.first { $0.name == name }?.value ?? "" } + [value.value]
        }
        let paths = values.map(path).sorted { first, second in
            first.lexicographicallyPrecedes(second) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        var last: [String]?
        for path in paths {
            let common = last.map { zip($0, path).prefix { $0 == $1 }.count } ?? 0
            for (name, value) in zip(groups.reversed(), path).dropFirst(common) { put(name.rawValue, value) }
            put(tag.rawValue, path[path.count - 1])
            last = path
            try await drain()
        }
    }
}

extension SongFilter {
    /// The folders that the filter names.
    fileprivate var folders: [String] {
        switch self {
        case .base(let folder): [folder]
        case .and(let filters): filters.flatMap(\.folders)
        case .not(let filter): filter.folders
        case .all, .tag, .anyTag, .file, .modifiedSince: []
        }
    }
}
