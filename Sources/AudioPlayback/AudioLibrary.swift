import BackgrounderAPI
import CAO
import Glibc
import Synchronization

/// What there is one of per process: libao's drivers, and the environment they read.
package enum AudioLibrary {
    /// Sets how much the pulse driver asks the sound server to hold, unless the environment says so already.
    ///
    /// Call it first thing in main, before other threads read the environment: libao's own option overflows above 48 ms
    /// at 44.1 kHz, and this variable of the pulse library overrides it.
    package static func prepare(latency: Duration) {
        setenv("PULSE_LATENCY_MSEC", String(max(1, Int(latency.seconds * 1000))), 0)
    }

    /// Short names of the live drivers that this libao has, the preferred first, without its `null`, which has no pace.
    package static let liveDrivers: [String] = {
        initialize()
        var count: CInt = 0
        guard let list = ao_driver_info_list(&count) else { return [] }
        let all: [ao_info] = UnsafeBufferPointer(start: list, count: Int(count)).compactMap { $0?.pointee }
        let live = all.filter { $0.type == AO_TYPE_LIVE }.sorted { $0.priority > $1.priority }
        return live.map { String(cString: $0.short_name) }.filter { $0 != "null" }
    }()

    /// libao reads its configuration and loads its plugins once; it is never shut down, since abandoned threads use it.
    static func initialize() { _ = isInitialized }

    private static let isInitialized: Bool = {
        ao_initialize()
        shim_silence_alsa()
        return true
    }()
}
