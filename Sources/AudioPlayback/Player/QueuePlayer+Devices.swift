package import BackgrounderAPI
import Logging
import MediaFiles

/// Listing the output devices, and moving to a better one.
extension QueuePlayer {
    /// Tuned: a sound server that has not opened a device by then hangs.
    private static var probeLimit: Duration { .seconds(3) }

    /// While `auto` plays in silence, looks for a device now and then; the next item moves to it.
    func probeForDevice(_ snapshot: PipelineSnapshot) {
        guard snapshot.device?.isFallback == true, activity.playback == .playing else { return deviceSearch.stop() }
        // A thread that hangs in the server returns when the server recovers, so there is no need to probe.
        guard snapshot.stuckThreads == 0, let format = snapshot.device?.format else { return }
        let clock = clock
        let opener = opener
        let probes = probes
        deviceSearch.start { delay in
            Task {
                guard (try? await clock.sleep(for: delay)) != nil else { return }
                // Opens a device and closes it again.
                let isThere = await probes.ask("auto", within: Self.probeLimit) {
                    let opened = try? opener.open(format, .live)
                    opened?.output?.close()
                    return opened == nil ? nil : []
                }
                if !Task.isCancelled { probed(isThere != nil) }
            }
        }
    }

    private func probed(_ isThere: Bool) {
        if isThere {
            // The task stays, so that no other probe starts before the move.
            logger.notice("Found a sound device; the next item plays on it")
            allowOpening()
            pipeline.leaveFallback()
        } else {
            deviceSearch.ended()
            probeForDevice(pipeline.snapshot())
        }
    }

    /// Returns the drivers of this machine, with their sinks or cards and whether each can be opened now. Takes at most
    /// 150 ms: a driver that has not opened by then counts as unavailable.
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

    /// Returns the driver's devices, or nil if it does not open. May block forever.
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

/// The search for a device while `auto` plays in silence.
struct DeviceSearch {
    /// Tuned: the longest time between two probes; a probe opens a device, and 30 s is soon enough to regain sound.
    private static let longestDelay = Duration.seconds(30)

    private var probe: Task<Void, Never>?
    private var delay = Duration.zero

    /// Has `probe` start a task that probes after the delay that it is passed, unless there is one.
    mutating func start(_ probe: (Duration) -> Task<Void, Never>) {
        guard self.probe == nil else { return }
        delay = min(max(delay * 2, .seconds(1)), Self.longestDelay)
        self.probe = probe(delay)
    }

    /// The probe found nothing; another one may follow.
    mutating func ended() { probe = nil }

    mutating func stop() {
        probe?.cancel()
        self = DeviceSearch()
    }
}
