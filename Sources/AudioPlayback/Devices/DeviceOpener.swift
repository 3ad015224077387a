import MediaFiles
import Synchronization

/// The devices that `auto` may try.
enum DeviceReach: Sendable {
    /// A sound device, else silence.
    case any
    case live
    /// Only silence, because threads already hang in the sound server.
    case fallback
}

/// Opens the configured device; for `auto`, the first that opens.
///
/// libao's own default does not help: it chooses alsa without probing, and its pulse driver accepts any address.
final class DeviceOpener: Sendable {
    let name: AudioDriverName
    /// The number of files written so far; each opening writes another.
    private let files = Mutex(0)

    init(_ name: AudioDriverName) { self.name = name }

    /// The drivers that `auto` tries, in order.
    static let automatic = ["pulse", "alsa"]

    /// Opens a device. `output` is nil for the paced device. May block forever. libao's messages do not reach the terminal.
    ///
    /// - Throws: ``OutputError/notOpened(driver:reason:)``.
    func open(
        _ format: AudioFormat,
        _ reach: DeviceReach
    ) throws(OutputError) -> (device: OpenDevice, output: AudioOutput?) {
        func device(_ kind: OpenDevice.Kind, _ driver: String, _ words: String, fallback: Bool = false) -> OpenDevice {
            OpenDevice(kind: kind, driver: driver, description: words, isFallback: fallback, format: format)
        }
        switch name {
        case .null:
            return (device(.paced, "null", "no output, as configured"), nil)
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
