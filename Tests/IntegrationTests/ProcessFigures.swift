import Foundation

/// What a process costs at a moment, from /proc.
struct ProcessFigures: CustomStringConvertible {
    /// Seconds of processor time so far, to 10 ms.
    let processorTime: Double
    /// Bytes.
    let residentSize: Int
    let descriptors: Int
    let threads: Int

    init(of pid: pid_t) throws {
        let folder = "/proc/\(pid)"
        // The name, in parentheses, may hold anything.
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

/// Lets a time pass in which something is watched.
func pause(seconds: Double) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { continuation.resume() }
    }
}
