import Glibc
import SystemSupport

extension MetricsText {
    /// Adds what this process uses, with the names of Prometheus' client libraries.
    ///
    /// Source: <https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>.
    mutating func addProcess() {
        if let memory = Self.residentMemory {
            add("process_resident_memory_bytes", .gauge, "Resident memory size in bytes.", Double(memory))
        }
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        add("process_cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.", seconds)
        add("process_open_fds", .gauge, "Number of open file descriptors.", Double(OpenDescriptors.count))
    }

    /// Bytes; `nil` without `/proc`.
    private static var residentMemory: Int? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &bytes, bytes.count)
        let fields = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(getpagesize()) } : nil
    }
}
