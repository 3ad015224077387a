import BackgrounderAPI

extension MPDCommand {
    /// Stickers, which clients use for ratings and the like.
    static let stickerCommands: [MPDCommand] = [
        MPDCommand("sticker", 3...6) { session, arguments in
            guard arguments[1] == "song" else { throw MPDError(.argument, "unknown sticker domain") }
            let database = try session.requireDatabase()
            let (path, rest) = (arguments[2], arguments.dropFirst(3))
            switch (arguments[0], rest.count) {
            case ("get", 1):
                let stickers = try await database.stickers(of: session.songPath(path), named: rest[0])
                guard let value = stickers[rest[0]] else { throw noSuchSticker }
                session.putSticker(rest[0], value)
            case ("list", 0):
                let stickers = try await database.stickers(of: session.songPath(path), named: nil)
                for (name, value) in stickers.sorted(by: { $0.key < $1.key }) { session.putSticker(name, value) }
            case ("set", 2):
                try await database.setSticker(rest[0], to: rest[1], of: session.songPath(path))
                session.context.hub.changed(.sticker)
            case ("delete", 0...1):
                let wereThere = try await database.removeStickers(of: session.songPath(path), named: rest.first)
                guard wereThere else { throw noSuchSticker }
                session.context.hub.changed(.sticker)
            case ("find", 1), ("find", 3):
                let condition = try StickerCondition(rest.dropFirst())
                let found = try await database.stickers(named: rest[0], below: path).filter {
                    condition.holds($0.value)
                }
                let songs = try await database.songs(at: Array(found.keys))
                for (path, value) in found.sorted(by: { $0.key < $1.key }) where songs[path] != nil {
                    session.put("file", path)
                    session.putSticker(rest[0], value)
                    try await session.drain()
                }
            default: throw MPDError(.argument, "bad request")
            }
        }
    ]

    private static let noSuchSticker = MPDError(.noExist, "no such sticker")
}

/// The condition of `sticker find`, which compares texts.
private enum StickerCondition {
    case exists
    case equals(String)
    case isBelow(String)
    case isAbove(String)

    init(_ words: some Collection<String>) throws(MPDError) {
        guard let sign = words.first, let value = words.dropFirst().first else {
            self = .exists
            return
        }
        switch sign {
        case "=": self = .equals(value)
        case "<": self = .isBelow(value)
        case ">": self = .isAbove(value)
        default: throw MPDError(.argument, "bad operator")
        }
    }

    func holds(_ text: String) -> Bool {
        switch self {
        case .exists: true
        case .equals(let value): text == value
        case .isBelow(let value): text < value
        case .isAbove(let value): text > value
        }
    }
}

extension MPDSession {
    fileprivate func putSticker(_ name: String, _ value: String) { put("sticker", "\(name)=\(value)") }

    /// Returns the path of a song that exists.
    fileprivate func songPath(_ path: String) async throws -> String {
        do {
            return try await requireDatabase().song(path).path
        } catch MPDDatabaseError.noSuchEntry {
            throw MPDError.noSuchSong
        }
    }
}
