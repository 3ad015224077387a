package import FoundationEssentials

/// The state of the audio mode.
package struct AudioStatus: Codable, Hashable, Sendable {
    package var timeControlStatus: TimeControlStatus
    package var currentItem: PlayerItem?
    /// Seconds of the current item that have been heard.
    package var elapsed: Double?
    /// The driver in use; `null` if `auto` found no sound device.
    package var driver: String
    /// The output device, or the reason for playing in silence.
    package var device: String?
    /// The sample format of the open device: `44100:16:2` is 44.1 kHz, 16 bit, two channels. Absent while none is open.
    package var format: String?
    /// Seconds of sound that are buffered: decoded ahead, or held by the device.
    package var buffered: Double
    /// 0 to 100.
    package var volume: Int
    package var `repeat`: Bool
    package var single: SingleMode
    package var consume: Bool
    package var random: Bool
    package var replayGain: ReplayGainMode
    /// While false nothing sounds: the player pauses instead of playing, and announcements are refused.
    package var outputEnabled: Bool
    /// How often the output needed samples and had none.
    package var underruns: Int
    /// How often the output stalled or was lost.
    package var interruptions: Int
    /// Since when `timeControlStatus` has its value.
    package var since: Date
    package var lastError: PlaybackError?
    /// The current announcement; absent if there is none.
    package var announcement: AnnouncementStatus?
    /// How many other announcements wait; absent if none does.
    package var announcements: Int?
    /// The bit rate of the current item in kbit/s; absent while it is unknown.
    package var bitrate: Int?
    /// Why the sound of an address does not arrive; absent while there is sound.
    package var buffering: String?
    /// The problems of the storage; with one, a restart may not know the player's state. Absent if there are none.
    package var health: StorageHealth?

    /// Creates an audio status.
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
        outputEnabled: Bool = true,
        underruns: Int,
        interruptions: Int,
        since: Date,
        lastError: PlaybackError? = nil,
        announcement: AnnouncementStatus? = nil,
        announcements: Int? = nil,
        bitrate: Int? = nil,
        buffering: String? = nil,
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
        self.outputEnabled = outputEnabled
        self.underruns = underruns
        self.interruptions = interruptions
        self.since = since
        self.lastError = lastError
        self.announcement = announcement
        self.announcements = announcements
        self.bitrate = bitrate
        self.buffering = buffering
        self.health = health
    }
}

/// An announcement that plays, or begins as soon as its file is decoded.
package struct AnnouncementStatus: Codable, Hashable, Sendable {
    package var path: String
    /// Seconds that have been heard; absent until it has begun.
    package var elapsed: Double?
    /// Seconds; absent until the file was read.
    package var duration: Double?
    /// The factor for the volume of the music meanwhile; absent if the music is on hold.
    package var duck: Double?
    /// A higher priority plays first.
    package var priority: Int

    /// Creates an announcement status.
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

/// The playback states: those of AVFoundation, and `stopped`.
package enum TimeControlStatus: String, Codable, Sendable {
    case playing, paused
    /// The player should play, but the output accepts nothing.
    case waiting
    case stopped
}

/// MPD's `single` mode: pause after the current item. In JSON `false`, `true` or `"oneshot"`.
package enum SingleMode: Hashable, Sendable {
    case off, on
    /// On for one item, then off.
    case oneshot
}

extension SingleMode: Codable {
    /// Decodes `true`, `false` or `"oneshot"`; `"on"` and `"off"` are accepted, too.
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

    /// Encodes `true`, `false` or `"oneshot"`.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .off: try container.encode(false)
        case .on: try container.encode(true)
        case .oneshot: try container.encode("oneshot")
        }
    }
}

/// The gain from an item's tags that is applied, so that all items are equally loud.
package enum ReplayGainMode: String, Codable, CaseIterable, Sendable {
    case off
    /// The gain of the item.
    case track
    /// The gain of its album, so that the quiet items of an album stay quiet.
    case album
    /// As in MPD: the track's while `random` is on, otherwise the album's.
    case auto

    /// Decodes the name of a mode. The error for another text lists all modes.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let mode = Self(rawValue: text) else {
            let all = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text.debugDescription) is not a mode; use one of \(all)"
            )
        }
        self = mode
    }
}

/// The newest error of an item or of the output; `path` is absent if no item is at fault.
package struct PlaybackError: Codable, Hashable, Sendable {
    package var path: String?
    package var reason: String
    package var timestamp: Date

    /// Creates a playback error.
    package init(path: String? = nil, reason: String, timestamp: Date) {
        self.path = path
        self.reason = reason
        self.timestamp = timestamp
    }
}

/// A driver of libao. A `live` driver plays sound, the others write files; `available` says whether it can be opened now.
package struct AudioDriver: Codable, Hashable, Sendable {
    package var name: String
    package var live: Bool
    package var available: Bool
    /// Its sinks or cards; absent if the driver cannot list them.
    package var devices: [AudioDevice]?

    /// Creates an audio driver.
    package init(name: String, live: Bool, available: Bool, devices: [AudioDevice]? = nil) {
        self.name = name
        self.live = live
        self.available = available
        self.devices = devices
    }
}

/// A sink or card of a driver; `audio.driver: DRIVER:NAME` selects it.
package struct AudioDevice: Codable, Hashable, Sendable {
    package var name: String
    package var description: String?
    /// True for the default device, otherwise absent.
    package var isDefault: Bool?

    /// Creates an audio device.
    package init(name: String, description: String? = nil, isDefault: Bool? = nil) {
        self.name = name
        self.description = description
        self.isDefault = isDefault
    }
}
