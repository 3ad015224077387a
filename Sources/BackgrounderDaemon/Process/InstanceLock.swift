import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc
import SystemSupport

/// The right to be the only service of a home: a file lock, which the kernel releases however the process ends.
///
/// A record beside the file describes the holder (``InstanceRecord``). The existence of either file means nothing.
struct InstanceLock: ~Copyable {
    private let descriptor: CInt

    /// Acquires the lock and writes `record` for other processes.
    ///
    /// The run folder is locked meanwhile, for some microseconds, so that a process that is refused reads the record of the current
    /// holder, not that of an earlier one.
    ///
    /// - Throws: ``InstanceError`` if another process holds the lock or a file cannot be written.
    init(_ paths: RuntimePaths, record: InstanceRecord) throws(InstanceError) {
        let arbiter = try Self.open(paths.run, O_RDONLY | O_DIRECTORY)
        defer { close(arbiter) }
        while flock(arbiter, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .cannotWrite(path: paths.run, reason: systemMessage(errno)) }
        }
        let descriptor = try Self.open(paths.lock, O_RDWR | O_CREAT)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyRunning(pid: InstanceRecord.read(paths.instance)?.pid)
        }
        do {
            try record.write(to: paths.instance)
        } catch {
            close(descriptor)
            throw .cannotWrite(path: paths.instance, reason: error.reason)
        }
        self.descriptor = descriptor
    }

    /// Acquires the lock, and waits for that of a service that was killed.
    ///
    /// A command that the killed service was about to execute holds the lock until its execve(2).
    ///
    /// - Throws: ``InstanceError`` if a running service holds the lock or a file cannot be written.
    static func acquire(_ paths: RuntimePaths, record: InstanceRecord) async throws(InstanceError) -> InstanceLock {
        do throws(InstanceError) {
            return try InstanceLock(paths, record: record)
        } catch .alreadyRunning(let pid?) where !isRunning(pid) {
            return try await wait(paths, record: record, seconds: 5)
        }
    }

    /// Acquires the lock as soon as its holder releases it, and writes `record` for other processes.
    ///
    /// - Throws: ``InstanceError`` if the lock is held for longer than `seconds` or a file cannot be written.
    static func wait(
        _ paths: RuntimePaths,
        record: InstanceRecord,
        seconds: Int
    ) async throws(InstanceError) -> InstanceLock {
        let deadline = MonotonicTime.now + .seconds(seconds)
        while true {
            let lock = try open(paths.lock, O_RDWR | O_CREAT)
            guard await FileLock.isFree(lock, for: LOCK_EX, until: deadline) else {
                throw .alreadyRunning(pid: InstanceRecord.read(paths.instance)?.pid)
            }
            do throws(InstanceError) {
                return try InstanceLock(paths, record: record)
            } catch .alreadyRunning {
                // Another process acquired it first.
            }
        }
    }

    private static func open(_ path: String, _ flags: CInt) throws(InstanceError) -> CInt {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: systemMessage(errno)) }
        return descriptor
    }

    deinit {
        close(descriptor)
    }
}

enum InstanceError: Error, CustomStringConvertible {
    case alreadyRunning(pid: Int32?)
    case cannotWrite(path: String, reason: String)

    var description: String {
        switch self {
        case .alreadyRunning(let pid):
            "already running\(pid.map { ", pid \($0)" } ?? ""); stop it with `backgrounder stop`, or use another --home"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason); name a writable folder with --home"
        }
    }
}
