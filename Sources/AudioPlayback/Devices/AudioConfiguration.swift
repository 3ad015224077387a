package import MediaFiles

/// The audio driver, as `audio.driver` and `--driver` name it.
package enum AudioDriverName: Hashable, Sendable {
    /// The first of pulse and alsa that opens; `null` until one does.
    case auto
    /// A live driver of libao, by its short name, with the name of a sink or card if it is not the default.
    case live(String, device: String? = nil)
    /// No output, at the pace of a sound card.
    case null
    /// A WAV file, written as fast as possible. Each opening of the device writes another: FILE, FILE-2, …
    case wav(String)
    case raw(String)

    /// Parses a driver's name.
    ///
    /// - Throws: ``PlayerError/unknownDriver(name:allowed:)`` if libao does not have it on this machine.
    package init(_ text: String) throws(PlayerError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("auto", 1): self = .auto
        case ("null", 1): self = .null
        case ("wav", 2) where !parts[1].isEmpty: self = .wav(parts[1])
        case ("raw", 2) where !parts[1].isEmpty: self = .raw(parts[1])
        case (let name?, 1) where AudioLibrary.liveDrivers.contains(name): self = .live(name)
        case (let name?, 2) where Self.driversWithDevices.contains(name) && !parts[1].isEmpty:
            self = .live(name, device: parts[1])
        default:
            let allowed =
                ["auto"] + AudioLibrary.liveDrivers + ["pulse:SINK", "alsa:CARD", "null", "wav:FILE", "raw:FILE"]
            throw .unknownDriver(name: text, allowed: allowed)
        }
    }

    /// The file that `wav:` and `raw:` write; nil for the others.
    package var file: String? {
        switch self {
        case .wav(let path), .raw(let path): path
        case .auto, .live, .null: nil
        }
    }

    /// The drivers that can name a device.
    private static var driversWithDevices: [String] { ["pulse", "alsa"].filter(AudioLibrary.liveDrivers.contains) }
}

extension AudioDriverName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .auto: "auto"
        case .live(let name, let device): name + (device.map { ":\($0)" } ?? "")
        case .null: "null"
        case .wav(let path): "wav:\(path)"
        case .raw(let path): "raw:\(path)"
        }
    }

    /// The name in the status.
    var shortName: String {
        switch self {
        case .auto: "auto"
        case .live(let name, _): name
        case .null: "null"
        case .wav: "wav"
        case .raw: "raw"
        }
    }
}

/// The player's output settings.
package struct AudioConfiguration: Hashable, Sendable {
    package var driver: AudioDriverName
    /// How much sound the sound server holds. More needs fewer wakeups; pause and seek are heard after up to one and a half
    /// times as long.
    package var latency: Duration
    /// The fixed output format, to which everything is resampled; nil plays each item in its own.
    package var format: AudioFormat?

    /// Creates settings; the defaults are those of the configuration file.
    package init(
        driver: AudioDriverName = .auto,
        latency: Duration = .milliseconds(300),
        format: AudioFormat? = nil
    ) {
        self.driver = driver
        self.latency = latency
        self.format = format
    }
}
