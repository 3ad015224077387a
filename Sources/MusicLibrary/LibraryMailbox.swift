import Glibc
import Synchronization

/// The requests to the library's thread, which sleeps until there is one. Usable from any thread.
final class LibraryMailbox: Sendable {
    /// A scan of a file or folder; "" is everything.
    struct Job: Hashable, Sendable {
        let number: Int
        let path: String
        /// Whether to read unchanged files too.
        let rescan: Bool
    }

    private struct State {
        var waiting: [Job] = []
        var current: Int?
        var last = 0
        var isEnded = false

        mutating func add(_ path: String, _ rescan: Bool) -> Int {
            last += 1
            waiting.append(Job(number: last, path: path, rescan: rescan))
            return last
        }
    }

    private let state = Mutex(State())
    private let ends: (read: CInt, write: CInt)

    init() {
        var pair: [CInt] = [-1, -1]
        // Without descriptors the service cannot run anyway; a thread that cannot be woken ends with the process.
        if pipe(&pair) == 0 {
            for end in pair {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        ends = (pair[0], pair[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    /// Tuned: the most waiting jobs; beyond them, one scan of everything does the same.
    private static let mostWaiting = 32

    /// Adds a job, unless one that covers it already waits. Returns the job's number.
    func add(_ path: String, rescan: Bool) -> Int {
        let number = state.withLock { state in
            if let same = state.waiting.first(where: {
                ($0.path.isEmpty || $0.path.utf8.elementsEqual(path.utf8)) && ($0.rescan || !rescan)
            }) {
                return same.number
            }
            guard state.waiting.count >= Self.mostWaiting else { return state.add(path, rescan) }
            let rescan = rescan || state.waiting.contains(where: \.rescan)
            state.waiting = []
            return state.add("", rescan)
        }
        wake()
        return number
    }

    /// Begins a job of the thread's own.
    func begin() {
        state.withLock { state in
            state.last += 1
            state.current = state.last
        }
    }

    /// Returns the next requested job.
    func next() -> Job? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let job = state.waiting.removeFirst()
            state.current = job.number
            return job
        }
    }

    func finish() { state.withLock { $0.current = nil } }

    /// The number of the current job, or of the next one.
    var job: Int? { state.withLock { $0.current ?? $0.waiting.first?.number } }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    func end() {
        state.withLock { $0.isEnded = true }
        wake()
    }

    private func wake() { _ = write(ends.write, "!", 1) }

    /// Sleeps until there is a request, `descriptor` is readable, or `milliseconds` have passed; -1 means no limit.
    func wait(for descriptor: CInt, milliseconds: CInt) {
        var waits = [
            pollfd(fd: ends.read, events: CShort(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0),
        ]
        poll(&waits, nfds_t(waits.count), milliseconds)
        var byte: UInt64 = 0
        while read(ends.read, &byte, 8) > 0 {}
    }
}
