import Glibc
import Synchronization

/// What others ask of the library's thread, which sleeps until somebody does. Any thread.
final class LibraryMailbox: Sendable {
    /// A look at a file, a folder or, with "", at everything.
    struct Job: Hashable, Sendable {
        let number: Int
        let path: String
        /// Also at what seems to be as it was.
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
        // Without descriptors there is no service either; a thread that cannot be woken still ends with the process.
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

    /// judgement: so many places at once; one look at everything does as much as more of them
    private static let mostWaiting = 32

    /// The job's number; one that waits already and does as much is not added again.
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

    /// A job of the thread's own, that begins at once.
    func begin() {
        state.withLock { state in
            state.last += 1
            state.current = state.last
        }
    }

    /// The next job that somebody asked for.
    func take() -> Job? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let job = state.waiting.removeFirst()
            state.current = job.number
            return job
        }
    }

    func finish() { state.withLock { $0.current = nil } }

    /// The job that is under way, or that will be next.
    var job: Int? { state.withLock { $0.current ?? $0.waiting.first?.number } }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    func end() {
        state.withLock { $0.isEnded = true }
        wake()
    }

    private func wake() { _ = write(ends.write, "!", 1) }

    /// Sleeps until somebody asked for something, `descriptor` is readable, or `milliseconds` are over; -1 for no limit.
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
