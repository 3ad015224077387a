import BackgrounderAPI
import FoundationEssentials
import MediaFiles

/// Lists the kernel's sound cards by the names that libao's alsa driver uses.
enum ALSADevices {
    /// Returns the devices, or none if the kernel has no sound support.
    static func list(_ path: String = "/proc/asound/pcm") -> [AudioDevice] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return devices(in: String(decoding: data, as: UTF8.self))
    }

    /// Parses lines such as `00-03: HDMI 0 : HDMI 0 : playback 1`: card and device, id, name, capabilities.
    static func devices(in text: String) -> [AudioDevice] {
        text.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: ":").map { $0.drop { $0 == " " } }
            guard parts.count > 3, parts.dropFirst(3).contains(where: { $0.hasPrefix("playback") }) else { return nil }
            let numbers = parts[0].split(separator: "-").compactMap { Int($0) }
            guard numbers.count == 2 else { return nil }
            return AudioDevice(
                name: "plughw:\(numbers[0]),\(numbers[1])",
                description: Metadata.line(String(parts[2]))
            )
        }
    }
}
