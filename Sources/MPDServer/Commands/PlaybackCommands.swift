import BackgrounderAPI

extension MPDCommand {
    static let playbackCommands: [MPDCommand] = [
        MPDCommand("play", 0...1) { session, arguments in
            let position = arguments.count == 0 ? -1 : try arguments.integer(0)
            await session.context.player.clearError()
            guard position != -1 else { return try await session.play() }
            try await session.context.player.play(id: session.item(at: position).id)
        },
        MPDCommand("playid", 0...1) { session, arguments in
            let id = arguments.count == 0 ? -1 : try arguments.integer(0)
            await session.context.player.clearError()
            guard id != -1 else { return try await session.play() }
            try await session.context.player.play(id: id)
        },
        MPDCommand("pause", 0...1) { session, arguments in
            let pauses = arguments.count == 0 ? nil : try arguments.boolean(0)
            switch await session.context.player.status().audio.timeControlStatus {
            case .playing, .waiting: if pauses != false { try await session.context.player.pause() }
            case .paused: if pauses != true { try await session.context.player.play() }
            case .stopped: break
            }
        },
        MPDCommand("stop") { session, _ in try await session.context.player.stop() },
        MPDCommand("next") { session, _ in try await session.context.player.next() },
        MPDCommand("previous") { session, _ in try await session.context.player.previous() },
        MPDCommand("seek", 2) { session, arguments in
            let position = try arguments.integer(0, in: MPDNumber.unsigned)
            let seconds = try arguments.time(1)
            try await session.seek(session.item(at: position).id, to: seconds)
        },
        MPDCommand("seekid", 2) { session, arguments in
            let id = try arguments.integer(0, in: MPDNumber.unsigned)
            let seconds = try arguments.time(1)
            guard await session.context.player.item(id: id) != nil else { throw MPDError.noSuchSong }
            try await session.seek(id, to: seconds)
        },
        MPDCommand("seekcur", 1) { session, arguments in
            let seconds = try arguments.float(0)
            let status = await session.context.player.status().audio
            guard status.timeControlStatus != .stopped, let current = status.currentItem else {
                throw MPDError.notPlaying
            }
            let isRelative = arguments[0].hasPrefix("+") || arguments[0].hasPrefix("-")
            try await session.seek(current.id, to: isRelative ? max(0, (status.elapsed ?? 0) + seconds) : seconds)
        },
        MPDCommand("clearerror") { session, _ in await session.context.player.clearError() },
    ]
}

extension MPDSession {
    /// Resumes or starts playback. Does nothing if the queue is empty, which is not an error in MPD.
    fileprivate func play() async throws {
        guard await context.player.status().queueLength > 0 else { return }
        try await context.player.play()
    }

    fileprivate func seek(_ id: Int, to seconds: Double) async throws {
        // Tuned: longer than any song, and within the range of the player, which counts frames.
        guard seconds.isFinite, seconds <= 1e7 else { throw MPDError(.argument, "Number too large: \(seconds)") }
        await context.player.clearError()
        try await context.player.seek(id: id, to: seconds)
        // The jump may be too short for the hub's comparison to detect it.
        context.hub.changed(.player)
    }

    /// Returns the item at a position of the queue. Throws "Bad song index" if there is none.
    func item(at position: Int) async throws(MPDError) -> PlayerItem {
        guard position >= 0, let item = await context.player.items(in: position..<position + 1).first else {
            throw .badSongIndex
        }
        return item
    }
}
