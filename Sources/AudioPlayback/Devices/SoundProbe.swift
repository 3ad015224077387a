import MediaFiles

/// A single attempt to open an output device, without a player.
package enum SoundProbe {
    // Tuned: a sound server that has not opened a device by then hangs.
    private static let patience = Duration.seconds(3)

    /// Returns whether a sound device of `driver` opens within 3 s. Drivers without a sound device are true.
    package static func opens(_ driver: AudioDriverName) async -> Bool {
        switch driver {
        case .null, .wav, .raw: return true
        case .auto, .live: break
        }
        guard let format = try? AudioFormat(rate: 44_100, channels: 2) else { return false }
        return await DriverProbes(clock: ContinuousClock()).ask("\(driver)", within: patience) {
            let opened = try? DeviceOpener(driver).open(format, .live)
            opened?.output?.close()
            return opened == nil ? nil : []
        } != nil
    }
}
