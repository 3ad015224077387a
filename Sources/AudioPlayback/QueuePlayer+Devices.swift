package import BackgrounderAPI
import Logging

/// Which devices there are, and moving over to a better one.
extension QueuePlayer {
    private static var longestProbe: Duration { .seconds(30) }  // judgement
    /// judgement: a server that has not opened a device by then hangs
    private static var probeLimit: Duration { .seconds(3) }

    /// While `auto` plays in silence it looks for a device now and then, and moves over where the next item begins.
    func probeForDevice(_ snapshot: PipelineSnapshot) {
        guard snapshot.device?.isFallback == true, intent == .playing else {
            probe?.cancel()
            probe = nil
            probeDelay = .zero
            return
        }
        // A thread that the server holds comes back when the server does, so there is no need to ask it.
        guard probe == nil, snapshot.stuckThreads == 0, let format = snapshot.device?.format else { return }
        probeDelay = min(max(probeDelay * 2, .seconds(1)), Self.longestProbe)
        let delay = probeDelay
        let clock = clock
        let opener = opener
        let probes = probes
        probe = Task {
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            // Really opens a device, and closes it again.
            let isThere = await probes.ask("auto", within: Self.probeLimit) {
                let opened = try? opener.open(format, .live)
                opened?.output?.close()
                return opened == nil ? nil : []
            }
            if !Task.isCancelled { probed(isThere != nil) }
        }
    }

    private func probed(_ isThere: Bool) {
        if isThere {
            // The task stays, so that nobody asks again before the move.
            logger.notice("A sound device is there; the next item is played on it")
            allowOpening()
            pipeline.leaveFallback()
        } else {
            probe = nil
            probeForDevice(pipeline.snapshot())
        }
    }

    /// The drivers that there are, each with whether it can be opened now, and its sinks or cards. Takes 150 ms at most: a
    /// driver that has not opened by then is not available.
    package func drivers() async -> [AudioDriver] {
        let names = AudioLibrary.liveDrivers
        var found: [String: [AudioDevice]] = [:]
        if let format = try? AudioFormat(rate: 44_100, channels: 2), pipeline.snapshot().stuckThreads == 0 {
            let probes = probes
            found = await withTaskGroup { group in
                for name in names {
                    group.addTask {
                        (name, await probes.ask(name, within: Self.answerLimit) { Self.devices(of: name, format) })
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }
        return names.map { name in
            let devices = found[name] ?? []
            return AudioDriver(
                name: name,
                live: true,
                available: found[name] != nil,
                devices: devices.isEmpty ? nil : devices
            )
        } + [
            AudioDriver(name: "null", live: true, available: true),
            AudioDriver(name: "wav", live: false, available: true),
            AudioDriver(name: "raw", live: false, available: true),
        ]
    }

    private static var answerLimit: Duration { .milliseconds(150) }

    /// `nil` where the driver does not open. May block for ever.
    private static func devices(of driver: String, _ format: AudioFormat) -> [AudioDevice]? {
        let devices =
            switch driver {
            case "pulse": PulseSinks.list(within: answerLimit)
            case "alsa": ALSADevices.list()
            default: [AudioDevice]()
            }
        guard let output = try? AudioOutput(.live(driver: driver), format: format) else { return nil }
        output.close()
        return devices
    }
}
