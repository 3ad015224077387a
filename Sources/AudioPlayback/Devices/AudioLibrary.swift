import CAO
import Glibc
import Synchronization
import SystemSupport

/// The process-wide state of libao: its drivers, and the environment that they read.
package enum AudioLibrary {
    /// Sets the latency of the pulse driver, unless the environment already does.
    ///
    /// Call it at the start of `main`, before another thread reads the environment. libao's own option overflows above 48 ms
    /// at 44.1 kHz; the pulse library's variable overrides it.
    package static func prepare(latency: Duration) {
        setenv("PULSE_LATENCY_MSEC", String(max(1, Int(latency.seconds * 1000))), 0)
    }

    /// The short names of libao's live drivers, preferred ones first, without its `null`, which does not keep real time.
    package static let liveDrivers: [String] = {
        initialize()
        var count: CInt = 0
        guard let list = ao_driver_info_list(&count) else { return [] }
        let all: [ao_info] = UnsafeBufferPointer(start: list, count: Int(count)).compactMap { $0?.pointee }
        let live = all.filter { $0.type == AO_TYPE_LIVE }.sorted { $0.priority > $1.priority }
        return live.map { String(cString: $0.short_name) }.filter { $0 != "null" }
    }()

    /// Makes libao read its configuration and load its plugins, once. It is never shut down, because abandoned threads may
    /// still use it.
    static func initialize() { _ = isInitialized }

    private static let isInitialized: Bool = {
        ao_initialize()
        cao_silence_alsa()
        return true
    }()
}
