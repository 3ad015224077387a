import BackgrounderAPI
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
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = InstanceRecord.read(path)
            close(descriptor)
            throw .alreadyRunning(pid: holder?.pid)
        }
        record.rewrite(path)
        self.descriptor = descriptor
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
