import CLinux
import Glibc

/// A process, as /proc/PID/stat has it (proc_pid_stat(5)).
struct ProcessEntry: Hashable, Sendable {
    var pid: pid_t
    var parent: pid_t
    var group: pid_t
    var session: pid_t
    /// Clock ticks from the machine's start: with the id it is a process's own for as long as the machine runs.
    var start: UInt64
    /// Whether nothing of it runs any more; one whose first thread alone has ended still does.
    var isZombie: Bool

    /// The process with this id now; `nil` where there is none.
    init?(_ pid: pid_t) {
        guard let bytes = readProcessFile(pid, "stat", limit: 1024) else { return nil }
        // The name, in brackets, may hold anything, brackets too.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)...], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
            let session = pid_t(fields[3]), let start = UInt64(fields[19])
        else { return nil }
        self.pid = pid
        (self.parent, self.group, self.session, self.start) = (parent, group, session, start)
        isZombie = (fields[0] == "Z" || fields[0] == "X") && (Int(fields[17]) ?? 0) <= 1
    }

    /// Signals it, and never another that has its number by now.
    ///
    /// - Returns: whether it was there and took the signal.
    @discardableResult
    func signal(_ signal: CInt) -> Bool {
        let descriptor = clinux_open_process(pid)
        guard descriptor >= 0 else {
            // A kernel before 5.3.
            guard errno == ENOSYS, ProcessEntry(pid)?.start == start else { return false }
            return kill(pid, signal) == 0
        }
        defer { close(descriptor) }
        guard ProcessEntry(pid)?.start == start else { return false }
        return clinux_signal_process(descriptor, signal) == 0
    }

    /// Whether its environment, as it was when its program began, has `variable` (`NAME=VALUE`).
    func carries(_ variable: String) -> Bool {
        // judgement: an environment is a few KiB; the kernel allows megabytes
        guard let bytes = readProcessFile(pid, "environ", limit: 1 << 20) else { return false }
        return bytes.split(separator: 0).contains { $0.elementsEqual(variable.utf8) }
    }

    /// All that can be seen.
    static func all() -> [ProcessEntry] { numbers(in: "/proc").compactMap { ProcessEntry($0) } }

    /// Those below `pid`, by what each thread started or adopted (/proc/PID/task/TID/children in proc(5)); it does not get
    /// slower with what else the machine runs. The kernel may leave out a living child while a sibling ends: whoever has to find
    /// all looks again until there is no child.
    static func below(_ pid: pid_t) -> [ProcessEntry] {
        var found: [ProcessEntry] = []
        var seen: Set<pid_t> = [pid]
        var next = [pid]
        while let pid = next.popLast() {
            for thread in numbers(in: "/proc/\(pid)/task") {
                let bytes = readProcessFile(pid, "task/\(thread)/children", limit: 1 << 20) ?? []
                let children = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
                for child in children {
                    // The number may be a stranger's by now, whose parent is another.
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

    /// Whether the kernel tells of children (CONFIG_PROC_CHILDREN).
    static var hasChildren: Bool { access("/proc/thread-self/children", R_OK) == 0 }

    /// The entries of a folder of /proc that are numbers.
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

/// The first `limit` bytes of /proc/PID/NAME; `nil` where there is none or it may not be read.
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
