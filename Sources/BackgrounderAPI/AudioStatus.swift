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
    /// 0 to 100.
    package var volume: Int
    package var `repeat`: Bool
    package var single: SingleMode
    package var consume: Bool
    package var random: Bool
    /// Times that the output needed samples and had none.
    package var underruns: Int
    /// Times that the output stalled or was lost.
    package var interruptions: Int
    /// Since when `timeControlStatus` is what it is.
    package var since: Date
    package var lastError: PlaybackError?

    package init(
        timeControlStatus: TimeControlStatus,
        currentItem: PlayerItem? = nil,
        elapsed: Double? = nil,
        driver: String,
        device: String? = nil,
        volume: Int,
        repeat: Bool,
        single: SingleMode,
        consume: Bool,
        random: Bool,
        underruns: Int,
        interruptions: Int,
        since: Date,
        lastError: PlaybackError? = nil
    ) {
        self.timeControlStatus = timeControlStatus
        self.currentItem = currentItem
        self.elapsed = elapsed
        self.driver = driver
        self.device = device
        self.volume = volume
        self.repeat = `repeat`
        self.single = single
        self.consume = consume
        self.random = random
        self.underruns = underruns
        self.interruptions = interruptions
        self.since = since
        self.lastError = lastError
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

    package init(name: String, live: Bool, available: Bool) {
        self.name = name
        self.live = live
        self.available = available
    }
}
