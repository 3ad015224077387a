import CLinux
import Glibc

/// Returns whether a process has this id and still runs: a zombie does not.
package func isRunning(_ pid: Int32) -> Bool {
    ProcessEntry(pid).map { !$0.isZombie } ?? false
}

/// A process, as /proc/PID/stat describes it (proc_pid_stat(5)).
struct ProcessEntry: Hashable, Sendable {
    var pid: pid_t
    var parent: pid_t
    var group: pid_t
    var session: pid_t
    /// The start time in clock ticks since boot; together with the pid it identifies a process for as long as the machine runs.
    var start: UInt64
    /// Whether all threads have ended; a process whose first thread has ended still runs.
    var isZombie: Bool

    /// Reads the process with this id; returns `nil` if there is none.
    init?(_ pid: pid_t) {
        guard let bytes = readProcessFile(pid, "stat", limit: 1024) else { return nil }
        // The name in parentheses may contain anything, including parentheses.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
            let session = pid_t(fields[3]), let start = UInt64(fields[19])
        else { return nil }
        self.pid = pid
        (self.parent, self.group, self.session, self.start) = (parent, group, session, start)
        isZombie = (fields[0] == "Z" || fields[0] == "X") && (Int(fields[17]) ?? 0) <= 1
    }

    /// Sends a signal to this process, never to a later one with the same pid.
    ///
    /// - Returns: whether the process exists and got the signal.
    @discardableResult
    func signal(_ signal: CInt) -> Bool {
        let descriptor = clinux_open_process(pid)
        guard descriptor >= 0 else {
            // Before Linux 5.3.
            guard errno == ENOSYS, ProcessEntry(pid)?.start == start else { return false }
            return kill(pid, signal) == 0
        }
        defer { close(descriptor) }
        guard ProcessEntry(pid)?.start == start else { return false }
        return clinux_signal_process(descriptor, signal) == 0
    }

    /// Returns whether its initial environment contains `variable` (`NAME=VALUE`).
    func carries(_ variable: String) -> Bool {
        // Tuned: environments have a few KiB; the kernel allows megabytes.
        guard let bytes = readProcessFile(pid, "environ", limit: 1 << 20) else { return false }
        return bytes.split(separator: 0).contains { $0.elementsEqual(variable.utf8) }
    }

    /// Returns all visible processes.
    static func all() -> [ProcessEntry] { numbers(in: "/proc").compactMap { ProcessEntry($0) } }

    /// Returns the descendants of `pid`, from the children of each thread (/proc/PID/task/TID/children in proc(5)). The cost does not
    /// depend on other processes. The kernel may omit a living child while a sibling ends: to find all, repeat until there is none.
    static func below(_ pid: pid_t) -> [ProcessEntry] {
        var found: [ProcessEntry] = []
        var seen: Set<pid_t> = [pid]
        var next = [pid]
        while let pid = next.popLast() {
            for thread in numbers(in: "/proc/\(pid)/task") {
                let bytes = readProcessFile(pid, "task/\(thread)/children", limit: 1 << 20) ?? []
                let children = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
                for child in children {
                    // The pid may belong to a new process with another parent by now.
                    guard let process = ProcessEntry(child), seen.contains(process.parent),
                        seen.insert(child).inserted
                    else { continue }
                    found.append(process)
                    next.append(child)
                }
            }
        }
        return found
    }

    /// Whether the kernel lists children (CONFIG_PROC_CHILDREN).
    static var hasChildren: Bool { access("/proc/thread-self/children", R_OK) == 0 }

    /// Returns the numeric entries of a folder of /proc.
    private static func numbers(in path: String) -> [pid_t] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var numbers: [pid_t] = []
        while let entry = readdir(directory) {
            let number = withUnsafeBytes(of: entry.pointee.d_name) { name in
                pid_t(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
            }
            if let number { numbers.append(number) }
        }
        return numbers
    }
}

/// Returns the first `limit` bytes of /proc/PID/NAME; `nil` if it cannot be read.
private func readProcessFile(_ pid: pid_t, _ name: String, limit: Int) -> [UInt8]? {
    let descriptor = open("/proc/\(pid)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while bytes.count < limit {
        let room = min(4096, limit - bytes.count)
        var count = 0
        let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, length in
            count = read(descriptor, buffer.baseAddress, room)
            length = max(0, count)
        }
        guard count > 0 else { break }
        bytes += piece
    }
    return bytes
}
