import BackgrounderAPI
import Dispatch
import FoundationEssentials
import Glibc

/// The right to be the one service of a home: a lock on a file, which the kernel gives back however the process ends.
///
/// A record beside the file tells others who holds it (``InstanceRecord``); that either file exists means nothing.
struct InstanceLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock and leaves `record` for others.
    ///
    /// The run directory is locked meanwhile, for some microseconds: a process that is refused reads the record of the
    /// process that was quicker, not that of an earlier one.
    ///
    /// - Throws: ``InstanceError`` when another process has it, or a file cannot be written.
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

    /// Takes the lock as soon as the process that has it ends, and leaves `record` for others.
    ///
    /// - Throws: ``InstanceError`` when the lock is held for longer than `seconds`, or a file cannot be written.
    static func wait(
        _ paths: RuntimePaths,
        record: InstanceRecord,
        seconds: Int
    ) async throws(InstanceError) -> InstanceLock {
        let deadline = DispatchTime.now() + .seconds(seconds)
        while true {
            guard await isFree(try open(paths.lock, O_RDWR | O_CREAT), until: deadline) else {
                throw .alreadyRunning(pid: InstanceRecord.read(paths.instance)?.pid)
            }
            do throws(InstanceError) {
                return try InstanceLock(paths, record: record)
            } catch .alreadyRunning {
                // Another process was quicker.
            }
        }
    }

    /// Whether the lock on `descriptor` is given back before `deadline`; the descriptor is closed then.
    private static func isFree(_ descriptor: CInt, until deadline: DispatchTime) async -> Bool {
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        // A lock has no timeout. At the deadline this thread is left to wait, and ends with the process.
        DispatchQueue(label: "backgrounder.lock").async {
            var code = flock(descriptor, LOCK_EX)
            while code != 0, errno == EINTR { code = flock(descriptor, LOCK_EX) }
            close(descriptor)
            answer.yield(code == 0)
        }
        DispatchQueue(label: "backgrounder.deadline").asyncAfter(deadline: deadline) { answer.yield(false) }
        return await answers.first { _ in true } == true
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
            "already running\(pid.map { ", pid \($0)" } ?? ""); stop it with `backgrounder stop`, or give another --home"
        case .cannotWrite(let path, let reason):
            "cannot write \(path): \(reason); give a folder that can be written with --home"
        }
    }
}
