import Foundation

/// The current resource use of a process, from /proc.
struct ProcessFigures: CustomStringConvertible {
    /// Processor time so far, in seconds with a resolution of 10 ms.
    let processorTime: Double
    /// Bytes.
    let residentSize: Int
    let descriptors: Int
    let threads: Int

    init(of pid: pid_t) throws {
        let folder = "/proc/\(pid)"
        // The name, in parentheses, may contain anything.
        let stat = String(decoding: FileManager.default.contents(atPath: "\(folder)/stat") ?? Data(), as: UTF8.self)
        let fields = stat.split(separator: ")").last?.split(separator: " ").map { Int($0) ?? 0 } ?? []
        guard fields.count > 21 else { throw ProcessGone(pid: pid) }
        processorTime = Double(fields[11] + fields[12]) / Double(sysconf(Int32(_SC_CLK_TCK)))
        threads = fields[17]
        residentSize = fields[21] * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").count
    }

    var description: String {
        "\(processorTime) s, \(residentSize >> 20) MiB, \(descriptors) descriptors, \(threads) threads"
    }
}

struct ProcessGone: Error {
    var pid: pid_t
}

/// Waits while something is observed.
func pause(seconds: Double) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.resume() }
    }
}
