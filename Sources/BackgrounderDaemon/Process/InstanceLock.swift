import BackgrounderAPI
import Dispatch
import FoundationEssentials
import Glibc

/// The right to be the one service of a home: a lock on a file, which the kernel gives back however the process ends.
///
/// The file tells others who holds it (``InstanceRecord``); its being there means nothing.
struct InstanceLock: ~Copyable {
    private let descriptor: CInt

    /// Takes the lock at `path` and leaves `record` there.
    ///
    /// - Throws: ``InstanceError`` when another process has it, or the file cannot be made.
    init(path: String, record: InstanceRecord) throws(InstanceError) {
        let descriptor = try Self.open(path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = InstanceRecord.read(path)
            close(descriptor)
            throw .alreadyRunning(pid: holder?.pid)
        }
        record.rewrite(path)
        self.descriptor = descriptor
    }

    /// Waits until whoever has the lock at `path` ends, takes it then, and leaves `record` there.
    ///
    /// - Throws: ``InstanceError`` when the lock is held for longer than `seconds`, or the file cannot be made.
    static func wait(_ path: String, record: InstanceRecord, seconds: Int) async throws(InstanceError) -> InstanceLock {
        let descriptor = try open(path)
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        // A lock has no timeout. At the deadline this thread is left to wait, and ends with the process.
        DispatchQueue(label: "backgrounder.lock").async {
            var code = flock(descriptor, LOCK_EX)
            while code != 0, errno == EINTR { code = flock(descriptor, LOCK_EX) }
            answer.yield(code == 0)
        }
        DispatchQueue(label: "backgrounder.deadline").asyncAfter(deadline: .now() + .seconds(seconds)) {
            answer.yield(false)
        }
        guard await answers.first(where: { _ in true }) == true else {
            throw .alreadyRunning(pid: InstanceRecord.read(path)?.pid)
        }
        record.rewrite(path)
        return InstanceLock(held: descriptor)
    }

    private init(held descriptor: CInt) {
        self.descriptor = descriptor
    }

    private static func open(_ path: String) throws(InstanceError) -> CInt {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
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
