/// Where sound goes, as the configuration and `--driver` name it.
package enum AudioDriverName: Hashable, Sendable {
    /// pulse, then alsa, then `null` until one of them opens.
    case auto
    /// A live driver of libao, by its short name; with the name of a sink or card where it is not the default one.
    case live(String, device: String? = nil)
    /// Nowhere, at the pace of a sound card.
    case null
    /// A file, as fast as possible; each opening of the device is one: FILE, FILE-2, ...
    case wav(String)
    case raw(String)

    /// Throws ``PlayerError/unknownDriver(name:allowed:)`` for what libao does not have on this machine.
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

    /// Where `wav:` and `raw:` write; `nil` for the others.
    package var file: String? {
        switch self {
        case .wav(let path), .raw(let path): path
        case .auto, .live, .null: nil
        }
    }

    /// Those whose devices have names.
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

    /// The word that status shows for it.
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

/// How the player reaches a sound device.
package struct AudioConfiguration: Hashable, Sendable {
    package var driver: AudioDriverName
    /// How much a sound server holds: more costs less, and pause and seek take up to half as long again to be heard.
    package var latency: Duration
    /// Everything is resampled to it, and the device never changes its format; without it each item has its own.
    package var format: AudioFormat?

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
