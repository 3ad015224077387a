extension MPDCommand {
    static let pictureCommands: [MPDCommand] = [
        MPDCommand("albumart", 2) { session, arguments in
            let offset = try arguments.integer(1, in: MPDNumber.unsigned)
            let path = arguments[0]
            guard path.isRelativePath else { throw MPDError(.noExist, "No file exists") }
            try await session.putPicture("albumart", path, from: offset) { database in
                do {
                    return try await database.folderPicture(of: path)
                } catch MPDDatabaseError.noSuchEntry {
                    throw MPDDatabaseError.noPicture(path)
                }
            }
        },
        MPDCommand("readpicture", 2) { session, arguments in
            let offset = try arguments.integer(1, in: MPDNumber.unsigned)
            let path = arguments[0]
            guard path.isRelativePath else { throw MPDError.noSuchSong }
            do {
                try await session.putPicture("readpicture", path, from: offset) { database in
                    try await database.embeddedPicture(of: path)
                }
            } catch MPDDatabaseError.noPicture {
                // A song without a picture gets an empty answer; any other file is an error.
                guard try await session.song(path) != nil else { throw MPDError.noSuchSong }
            } catch MPDDatabaseError.noSuchEntry {
                throw MPDError.noSuchSong
            }
        },
    ]
}

extension MPDSession {
    /// Sends a part of a picture, of at most ``binaryLimit`` bytes.
    fileprivate func putPicture(
        _ kind: String,
        _ path: String,
        from offset: Int,
        _ read: (any MPDDatabase) async throws -> MPDPicture
    ) async throws {
        let database = try requireDatabase()
        let key = "\(kind) \(path)"
        let picture: MPDPicture
        if offset > 0, let known = context.pictures.find(key) {
            picture = known
        } else {
            picture = try await read(database)
        }
        guard offset <= picture.bytes.count else { throw MPDError(.argument, "Offset too large") }
        let end = min(offset + binaryLimit, picture.bytes.count)
        context.pictures.store(end < picture.bytes.count ? picture : nil, key, for: ObjectIdentifier(self))
        put("size", picture.bytes.count)
        if kind == "readpicture", let type = picture.type { put("type", type) }
        put("binary", end - offset)
        append(picture.bytes[offset..<end])
        append("\n")
    }
}
