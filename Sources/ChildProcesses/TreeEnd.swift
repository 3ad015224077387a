import CLinux
import Glibc
import SystemSupport

/// Kills process trees that resist.
enum TreeEnd {
    /// Tuned: rounds that stop a fast-forking tree before it is killed while it runs.
    private static let looks = 20
    /// Tuned: milliseconds between searches for processes that were adopted without a signal.
    private static let pause = 10

    /// Kills every descendant of this process, which adopts orphans, and returns when none is left. A process that leaves its group,
    /// session or parent remains a descendant, so "no child" from the kernel means that nothing is left.
    ///
    /// The calling process must have one thread, block SIGCHLD and have a handler for it.
    ///
    /// - Parameters:
    ///   - deadline: in time of the monotonic clock; processes that remain after it hang in the kernel or belong to another user.
    ///   - reaped: called for each child that ended.
    /// - Returns: whether none is left.
    static func killDescendants(until deadline: Duration, reaped: (_ pid: pid_t, _ status: CInt) -> Void) -> Bool {
        let own = getpid()
        let hasChildren = ProcessEntry.hasChildren
        while true {
            // Most trees are gone with their group.
            if reap(reaped) { return true }
            kill { hasChildren ? ProcessEntry.below(own) : descendants(of: [own], among: ProcessEntry.all()) }
            if reap(reaped) { return true }
            guard MonotonicTime.now.sinceStart < deadline else { return false }
            _ = clinux_poll(nil, 0, pause)
        }
    }

    /// Reaps all ended children.
    ///
    /// - Returns: whether no child is left.
    static func reap(_ reaped: (_ pid: pid_t, _ status: CInt) -> Void) -> Bool {
        while true {
            var status: CInt = 0
            switch waitpid(-1, &status, WNOHANG) {
            case 0: return false
            case let pid where pid > 0: reaped(pid, status)
            default: if errno == ECHILD { return true }
            }
        }
    }

    /// Kills the rest of a tree without a keeper: the leader's group and session, every process with `mark` in its environment, and
    /// all their descendants. Blocks.
    ///
    /// - Parameters:
    ///   - leader: the pid of the leader; a later process with this pid is not part of the tree.
    ///   - begun: the start time of the leader in clock ticks.
    ///   - mark: `NAME=VALUE`.
    ///   - deadline: in time of the monotonic clock.
    /// - Returns: whether none is left.
    static func sweep(leader: pid_t?, begun: UInt64?, mark: String, until deadline: Duration) -> Bool {
        let own = getpid()
        // Once found, a member identifies its group and session even if the mark or the parent is gone.
        var sessions: Set<pid_t> = []
        func tree(_ entries: [ProcessEntry]) -> [ProcessEntry] {
            var roots: Set<pid_t> = []
            // The kernel reuses the pid only when nothing of the leader's group and session is left.
            let isNumberReused = entries.contains { $0.pid == leader && $0.start != begun }
            for entry in entries where entry.pid != own && !entry.isZombie {
                let isOfLeader: Bool =
                    if let leader, let begun, !isNumberReused {
                        (entry.group == leader || entry.session == leader || entry.pid == leader)
                            && entry.start >= begun
                    } else {
                        false
                    }
                if isOfLeader || sessions.contains(entry.session) || entry.carries(mark) { roots.insert(entry.pid) }
            }
            let all = descendants(of: roots, among: entries) + entries.filter { roots.contains($0.pid) }
            // A session that a member created: its leader is or was a member.
            sessions.formUnion(all.filter { $0.session == $0.pid }.map(\.pid))
            return all
        }
        while true {
            guard kill({ tree(ProcessEntry.all()) }) > 0 else { return true }
            guard MonotonicTime.now.sinceStart < deadline else { return false }
            _ = clinux_poll(nil, 0, pause)
        }
    }

    /// Stops the processes that `find` returns until it finds no new ones, so that none forks unseen, and then kills them.
    ///
    /// - Returns: how many there were.
    @discardableResult
    private static func kill(_ find: () -> [ProcessEntry]) -> Int {
        var stopped: Set<ProcessIdentity> = []
        for _ in 0..<looks {
            let new = find().filter { !$0.isZombie && !stopped.contains($0.identity) }
            guard !new.isEmpty else { break }
            for process in new {
                process.signal(SIGSTOP)
                stopped.insert(process.identity)
            }
        }
        let found = find().filter { !$0.isZombie }
        for process in found { process.signal(SIGKILL) }
        return found.count
    }

    /// Returns the descendants of `roots`, without these.
    private static func descendants(of roots: Set<pid_t>, among entries: [ProcessEntry]) -> [ProcessEntry] {
        var children: [pid_t: [ProcessEntry]] = [:]
        for entry in entries { children[entry.parent, default: []].append(entry) }
        var found: [ProcessEntry] = []
        var seen = roots
        var next = Array(roots)
        while let pid = next.popLast() {
            for child in children[pid] ?? [] where seen.insert(child.pid).inserted {
                found.append(child)
                next.append(child.pid)
            }
        }
        return found
    }
}

/// The identity of a process, unique for as long as the machine runs.
private struct ProcessIdentity: Hashable {
    var pid: pid_t
    var start: UInt64
}

extension ProcessEntry {
    fileprivate var identity: ProcessIdentity { ProcessIdentity(pid: pid, start: start) }
}
