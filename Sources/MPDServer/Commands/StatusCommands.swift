import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension MPDCommand {
    static let statusCommands: [MPDCommand] = [
        MPDCommand("status") { session, _ in
            session.put(await session.context.player.status())
            if let job = await session.context.database?.updateJob() { session.put("updating_db", job) }
        },
        MPDCommand("currentsong") { session, _ in
            guard let item = await session.context.player.status().audio.currentItem else { return }
            try await session.put([item])
        },
        MPDCommand("stats") { session, _ in
            let uptime = (ContinuousClock.now - session.context.started) / .seconds(1)
            let database = try await session.context.database?.statistics()
            session.put("uptime", Int(uptime))
            session.put("playtime", Int(await session.context.player.status().playtime))
            guard let database else { return }
            session.put("artists", database.artists)
            session.put("albums", database.albums)
            session.put("songs", database.songs)
            session.put("db_playtime", Int(database.playtime))
            if let updated = database.updated {
                session.put("db_update", Int(updated.timeIntervalSince1970))
            }
        },
    ]
}

extension MPDSession {
    fileprivate func put(_ status: MPDPlayerStatus) {
        let audio = status.audio
        put("volume", audio.volume)
        put("repeat", audio.repeat)
        put("random", audio.random)
        switch audio.single {
        case .off: put("single", "0")
        case .on: put("single", "1")
        case .oneshot: put("single", "oneshot")
        }
        put("consume", audio.consume)
        put("partition", "default")
        put("playlist", status.queueVersion)
        put("playlistlength", status.queueLength)
        put("mixrampdb", "0")
        switch audio.timeControlStatus {
        case .playing, .waiting: put("state", "play")
        case .paused: put("state", "pause")
        case .stopped: put("state", "stop")
        }
        if let current = audio.currentItem {
            put("song", current.position)
            put("songid", current.id)
            if audio.timeControlStatus != .stopped { putTimes(audio, current) }
        }
        if audio.timeControlStatus == .paused, !audio.outputEnabled {
            put("error", "All audio outputs are disabled")
        } else if audio.timeControlStatus == .waiting {
            put("error", audio.device ?? "the audio output accepts no sound")
        } else if let error = audio.lastError {
            put("error", error.path.map { "\(shownPath(of: $0)): \(error.reason)" } ?? error.reason)
        }
        if let next = status.nextItem {
            put("nextsong", next.position)
            put("nextsongid", next.id)
        }
    }

    private func putTimes(_ audio: AudioStatus, _ item: PlayerItem) {
        let elapsed = audio.elapsed ?? 0
        put("time", "\(Int(elapsed.rounded())):\(Int((item.duration ?? 0).rounded()))")
        put("elapsed", elapsed.thousandths)
        put("bitrate", audio.bitrate ?? 0)
        if let duration = item.duration { put("duration", duration.thousandths) }
        if let rate = item.sampleRate, let channels = item.channels { put("audio", "\(rate):16:\(channels)") }
    }
}

extension Double {
    /// The number with three decimals.
    var thousandths: String {
        let value = Int((self * 1000).rounded())
        let decimals = String(abs(value) % 1000)
        return "\(value / 1000).\(String(repeating: "0", count: 3 - decimals.utf8.count))\(decimals)"
    }
}
