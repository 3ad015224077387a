import CLinux
import Glibc

/// Ends trees of processes that do not want to end.
enum TreeEnd {
    /// judgement: looks that stop what forks as fast as it can; after them it is killed while it runs
    private static let looks = 20
    /// judgement: milliseconds until a look at who became ours without a sign of it
    private static let pause = 10

    /// Kills every process below this one, which adopts orphans, and returns when there is none any more. Whoever left its
    /// group, its session or its parent is still below it, so that "no child" is the kernel's word that nothing is left.
    ///
    /// For a process with one thread that blocks SIGCHLD and has a handler for it.
    /// - Parameters:
    ///   - deadline: of the monotonic clock; what is there after it hangs in the kernel, or is another user's.
    ///   - reaped: called for each child that ended.
    /// - Returns: whether none is left.
    static func killDescendants(until deadline: Duration, reaped: (_ pid: pid_t, _ status: CInt) -> Void) -> Bool {
        let own = getpid()
        let hasChildren = ProcessEntry.hasChildren
        while true {
            // Most trees are gone already, with their group.
            if reap(reaped) { return true }
            kill { hasChildren ? ProcessEntry.below(own) : descendants(of: [own], among: ProcessEntry.all()) }
            if reap(reaped) { return true }
            guard monotonicTime() < deadline else { return false }
            _ = clinux_poll(nil, 0, pause)
        }
    }

    /// Takes note of all children that have ended.
    ///
    /// - Returns: whether there is no child any more.
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

    /// Kills what is left of a tree that nobody holds together any more: the leader's group and session, whatever carries
    /// `mark` in its environment, and all below them. It blocks.
    ///
    /// - Parameters:
    ///   - leader: the id that it had; another process that has it now is not of the tree.
    ///   - begun: ticks at which the leader started.
    ///   - mark: `NAME=VALUE`.
    /// - Returns: whether none is left at the deadline (monotonic).
    static func sweep(leader: pid_t?, begun: UInt64?, mark: String, until deadline: Duration) -> Bool {
        let own = getpid()
        // Once found, a member vouches for its group and session also when the mark or the parent is gone.
        var sessions: Set<pid_t> = []
        func tree(_ entries: [ProcessEntry]) -> [ProcessEntry] {
            var roots: Set<pid_t> = []
            // The kernel gives the number to another only once none of the leader's group and session is left.
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
            // One that was made by a member of it: its leader is, or was, one too.
            sessions.formUnion(all.filter { $0.session == $0.pid }.map(\.pid))
            return all
        }
        while true {
            guard kill({ tree(ProcessEntry.all()) }) > 0 else { return true }
            guard monotonicTime() < deadline else { return false }
            _ = clinux_poll(nil, 0, pause)
        }
    }

    /// Stops what `find` finds until it finds nothing new, so that nobody forks out of sight, and kills it then.
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

    /// Whoever is below one of `roots`, without these.
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

/// What no two processes have in common for as long as the machine runs.
private struct ProcessIdentity: Hashable {
    var pid: pid_t
    var start: UInt64
}

extension ProcessEntry {
    fileprivate var identity: ProcessIdentity { ProcessIdentity(pid: pid, start: start) }
}
