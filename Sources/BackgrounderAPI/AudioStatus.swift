package import FoundationEssentials

/// What the audio mode is doing.
package struct AudioStatus: Codable, Hashable, Sendable {
    package var timeControlStatus: TimeControlStatus
    package var currentItem: PlayerItem?
    /// Seconds of the current item that have been heard.
    package var elapsed: Double?
    /// The driver in use, which is `null` where `auto` found no sound device.
    package var driver: String
    /// Where the sound goes, or why it goes nowhere.
    package var device: String?
    /// How the open device takes samples: `44100:16:2` is 44.1 kHz, 16 bit, two channels; absent while none is open.
    package var format: String?
    /// Seconds of sound that are ready: decoded ahead, or held by the device.
    package var buffered: Double
    /// 0 to 100.
    package var volume: Int
    package var `repeat`: Bool
    package var single: SingleMode
    package var consume: Bool
    package var random: Bool
    package var replayGain: ReplayGainMode
    /// Times that the output needed samples and had none.
    package var underruns: Int
    /// Times that the output stalled or was lost.
    package var interruptions: Int
    /// Since when `timeControlStatus` is what it is.
    package var since: Date
    package var lastError: PlaybackError?
    /// What is played over the music or instead of it, absent when nothing is.
    package var announcement: AnnouncementStatus?
    /// How many others wait behind it, absent when none does.
    package var announcements: Int?
    /// What is wrong with the storage, so that a restart may not know what the player did; absent while nothing is.
    package var health: StorageHealth?

    package init(
        timeControlStatus: TimeControlStatus,
        currentItem: PlayerItem? = nil,
        elapsed: Double? = nil,
        driver: String,
        device: String? = nil,
        format: String? = nil,
        buffered: Double = 0,
        volume: Int,
        repeat: Bool,
        single: SingleMode,
        consume: Bool,
        random: Bool,
        replayGain: ReplayGainMode = .off,
        underruns: Int,
        interruptions: Int,
        since: Date,
        lastError: PlaybackError? = nil,
        announcement: AnnouncementStatus? = nil,
        announcements: Int? = nil,
        health: StorageHealth? = nil
    ) {
        self.timeControlStatus = timeControlStatus
        self.currentItem = currentItem
        self.elapsed = elapsed
        self.driver = driver
        self.device = device
        self.format = format
        self.buffered = buffered
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.replayGain = replayGain
        self.underruns = underruns
        self.interruptions = interruptions
        self.since = since
        self.lastError = lastError
        self.announcement = announcement
        self.announcements = announcements
        self.health = health
    }
}

/// An announcement that plays, or begins as soon as its file is decoded.
package struct AnnouncementStatus: Codable, Hashable, Sendable {
    package var path: String
    /// Seconds of it that have been heard; absent until it has begun.
    package var elapsed: Double?
    package var duration: Double?
    /// The music goes on at this part of its loudness; absent where it is held.
    package var duck: Double?
    /// The higher one is first.
    package var priority: Int

    package init(
        path: String,
        elapsed: Double? = nil,
        duration: Double? = nil,
        duck: Double? = nil,
        priority: Int = 0
    ) {
        self.path = path
        self.elapsed = elapsed
        self.duration = duration
        self.duck = duck
        self.priority = priority
    }
}

/// AVFoundation's states of a player, and `stopped`.
package enum TimeControlStatus: String, Codable, Sendable {
    case playing, paused
    /// It wants to play, and the output does not take anything.
    case waiting
    case stopped
}

/// MPD's `single`: stop after the current item; in JSON `false`, `true` or `"oneshot"`.
package enum SingleMode: Hashable, Sendable {
    case off, on
    /// Once, then off again.
    case oneshot
}

extension SingleMode: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let isOn = try? container.decode(Bool.self) {
            self = isOn ? .on : .off
        } else {
            switch try container.decode(String.self) {
            case "off": self = .off
            case "on": self = .on
            case "oneshot": self = .oneshot
            case let other:
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "single is true, false or \"oneshot\", not \"\(other)\""
                )
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .off: try container.encode(false)
        case .on: try container.encode(true)
        case .oneshot: try container.encode("oneshot")
        }
    }
}

/// Which of the gains that an item's tags state is applied, so that all items are equally loud.
package enum ReplayGainMode: String, Codable, CaseIterable, Sendable {
    case off
    /// The item's own.
    case track
    /// Its album's, so that the quiet items of an album stay quiet.
    case album
    /// MPD's: the track's while `random` is on, else the album's.
    case auto

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let mode = Self(rawValue: text) else {
            let all = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.debugDescription) is no mode; one of \(all)"
            )
        }
        self = mode
    }
}

/// The newest thing that went wrong with an item or the output; `path` is absent where no item is to blame.
package struct PlaybackError: Codable, Hashable, Sendable {
    package var path: String?
    package var reason: String
    package var timestamp: Date

    package init(path: String? = nil, reason: String, timestamp: Date) {
        self.path = path
        self.reason = reason
        self.timestamp = timestamp
    }
}

/// A driver of libao: `live` ones make sound, the others write files; `available` says whether it could be opened now.
package struct AudioDriver: Codable, Hashable, Sendable {
    package var name: String
    package var live: Bool
    package var available: Bool
    /// Its sinks or cards; absent where it cannot say them.
    package var devices: [AudioDevice]?

    package init(name: String, live: Bool, available: Bool, devices: [AudioDevice]? = nil) {
        self.name = name
        self.live = live
        self.available = available
        self.devices = devices
    }
}

/// Where a driver can play: `audio.driver: DRIVER:NAME` chooses it.
package struct AudioDevice: Codable, Hashable, Sendable {
    package var name: String
    package var description: String?
    /// True for the one that plays where none is named, else absent.
    package var isDefault: Bool?

    package init(name: String, description: String? = nil, isDefault: Bool? = nil) {
        self.name = name
        self.description = description
        self.isDefault = isDefault
    }
}
