import Synchronization

/// How far `auto` goes.
enum DeviceReach: Sendable {
    /// A sound device, else silence.
    case any
    case live
    /// Silence at once: the sound server holds threads of ours already.
    case fallback
}

/// Opens the device that the configuration asks for; for `auto`, the first that really opens.
///
/// libao's own choice is no help: it names alsa without probing, and its pulse driver says yes to any address.
final class DeviceOpener: Sendable {
    let name: AudioDriverName
    /// Files written so far: each opening is another one.
    private let files = Mutex(0)

    init(_ name: AudioDriverName) { self.name = name }

    /// Drivers that `auto` tries, in this order.
    static let automatic = ["pulse", "alsa"]

    /// `output` is absent where nothing but time passes. May block for ever; libao's own errors are on no terminal.
    func open(
        _ format: AudioFormat,
        _ reach: DeviceReach
    ) throws(OutputError) -> (device: OpenDevice, output: AudioOutput?) {
        func device(_ kind: OpenDevice.Kind, _ driver: String, _ words: String, fallback: Bool = false) -> OpenDevice {
            OpenDevice(kind: kind, driver: driver, description: words, isFallback: fallback, format: format)
        }
        switch name {
        case .null:
            return (device(.paced, "null", "nowhere, as configured"), nil)
        case .live(let driver, let name):
            let output = try AudioOutput(.live(driver: driver, device: name), format: format)
            return (device(.live, driver, name ?? "default device"), output)
        case .wav(let path), .raw(let path):
            let number = files.withLock { $0 + 1 }
            let path = number == 1 ? path : "\(path)-\(number)"
            let driver = name.shortName
            let output = try AudioOutput(.file(driver: driver, path: path), format: format)
            files.withLock { $0 = number }
            return (device(.file, driver, path), output)
        case .auto:
            var reasons: [String] = []
            for driver in Self.automatic where reach != .fallback {
                do {
                    let output = try AudioOutput(.live(driver: driver), format: format)
                    return (device(.live, driver, "default device"), output)
                } catch { reasons.append(error.reason) }
            }
            let words = reasons.isEmpty ? "the sound server does not answer" : reasons.joined(separator: "; ")
            guard reach != .live else { throw .notOpened(driver: "auto", reason: words) }
            return (device(.paced, "null", "no sound device (\(words))", fallback: true), nil)
        }
    }
}
