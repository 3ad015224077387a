import Dispatch
import Glibc

/// Locks of flock(2), which the kernel releases however their process ends.
package enum FileLock {
    /// Returns whether the lock on `descriptor` becomes free before `deadline`. Closes the descriptor, at the latest when the lock
    /// becomes free.
    ///
    /// - Parameter operation: the lock to try, `LOCK_SH` or `LOCK_EX`.
    package static func isFree(_ descriptor: CInt, for operation: CInt, until deadline: MonotonicTime) async -> Bool {
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        // flock(2) has no timeout. After the deadline this thread keeps waiting, at most until its process ends.
        DispatchQueue(label: "backgrounder.lock").async {
            var code = flock(descriptor, operation)
            while code != 0, errno == EINTR { code = flock(descriptor, operation) }
            close(descriptor)
            answer.yield(code == 0)
        }
        DispatchQueue(label: "backgrounder.deadline")
            .asyncAfter(deadline: .now() + MonotonicTime.now.duration(to: deadline).seconds) { answer.yield(false) }
        return await answers.first { _ in true } ?? false
    }
}
