import CLinux
import FoundationEssentials
import Glibc
import SystemSupport

/// A process between the service and one command. It adopts orphans of the command, so that it can kill the whole tree; it takes
/// the output; and it outlives the service, to end the command in time or to hand it to the next service.
///
/// The keeper is the service's program under another name, with one thread. See docs/decisions/0001-keeper-process.md.
package struct Keeper {
    /// Tuned: a process that remains for this long after SIGKILL hangs in the kernel.
    private static let patience = Duration.seconds(5)
    /// Tuned: milliseconds until the next process of a killed group ends.
    private static let groupPatience = 5

    private let order: CommandOrder
    private var running: RunningCommand
    private var lease: Lease
    private var connection: CInt
    private var listener: CInt = -1
    private var output: OutputCopier?
    private var wasEnded = false
    private var end: CommandEnd?

    /// Runs the keeper and exits if this process was started as one; returns immediately otherwise. Call it first in main, while there
    /// is one thread.
    package static func runIfThisIsOne() {
        guard CommandLine.arguments.first == KeeperProgram.name else { return }
        clinux_set_name(KeeperProgram.name)
        // Commands arrive on the socket; ignore signals that would end the keeper with the service.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
        // A handler, so that a child's end wakes the wait.
        signal(SIGCHLD) { _ in }
        var children = sigset_t()
        sigemptyset(&children)
        sigaddset(&children, SIGCHLD)
        sigprocmask(SIG_BLOCK, &children, nil)
        _ = clinux_adopt_orphans()
        guard case .begin(let order)? = KeeperSocket.receiveCommand(on: KeeperProgram.socket) else { exit(1) }
        do {
            var keeper = try Keeper(order)
            keeper.run()
        } catch {
            KeeperSocket.send(
                json: KeeperReport.refused(step: error.step, name: error.name, code: error.code),
                on: KeeperProgram.socket
            )
            exit(1)
        }
        exit(0)
    }

    /// Starts the command.
    private init(_ order: CommandOrder) throws(SpawnFailure) {
        self.order = order
        lease = order.lease
        connection = KeeperProgram.socket
        if let path = order.socket { listener = try Self.listen(path) }
        var descriptors: [CInt] = [0, 1, 2]
        var writeEnd: CInt = -1
        if let file = order.output {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SpawnFailure(.keeper, KeeperProgram.name, errno) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            output = OutputCopier(file, readEnd: ends[0])
            writeEnd = ends[1]
            descriptors = [0, writeEnd, writeEnd]
        }
        // The service passed only the variables that commands may see.
        let environment = ProcessInfo.processInfo.environment.merging(order.environment) { $1 }
        // The command is searched in its own PATH.
        if let path = environment["PATH"] { setenv("PATH", path, 1) }
        let pid: pid_t
        do {
            pid = try Spawn(
                arguments: order.arguments,
                environment: environment.map { "\($0.key)=\($0.value)" },
                directory: order.directory,
                descriptors: descriptors
            ).run()
        } catch {
            if let path = order.socket { unlink(path) }
            throw error
        }
        if writeEnd >= 0 { close(writeEnd) }
        // The command's output ends with the command.
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        for descriptor: CInt in [1, 2] { dup2(nowhere, descriptor) }
        chdir("/")
        // Not reaped yet, so the pid still refers to this child.
        running = RunningCommand(pid: pid, start: ProcessEntry(pid)?.start ?? 0, keeper: getpid())
    }

    private static func listen(_ path: String) throws(SpawnFailure) -> CInt {
        unlink(path)
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let listener = Glibc.socket(AF_UNIX, type, 0)
        guard listener >= 0, let address = KeeperSocket.address(path) else {
            throw SpawnFailure(.keeper, path, listener < 0 ? errno : ENAMETOOLONG)
        }
        guard KeeperSocket.with(address, { bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 4) == 0 else {
            throw SpawnFailure(.keeper, path, errno)
        }
        return listener
    }

    private mutating func run() {
        KeeperSocket.send(json: KeeperReport.began(running), on: connection)
        while true {
            reap()
            if end != nil { return finish() }
            act()
            if end != nil { return finish() }
            wait()
        }
    }

    /// Waits for an event and handles it.
    private mutating func wait() {
        var descriptors = [connection, listener, output?.readEnd ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard clinux_poll(&descriptors, descriptors.count, milliseconds) > 0 else { return }
        if descriptors[2].revents != 0, output?.copy() == false { dropOutput() }
        if descriptors[0].revents != 0 { obey() }
        if descriptors[1].revents != 0 { connect() }
    }

    /// The milliseconds until the next deadline; -1 for none.
    private var milliseconds: Int {
        guard let alone = running.aloneSince else { return -1 }
        let deadlines = lease.deadlines(aloneSince: alone)
        let next = running.wasAskedToEnd ? deadlines.kill : deadlines.term
        return Int(max(0, (next - MonotonicTime.now.sinceStart.nanoseconds + 999_999) / 1_000_000))
    }

    private mutating func obey() {
        guard let command = KeeperSocket.receiveCommand(on: connection) else {
            close(connection)
            connection = -1
            running.aloneSince = MonotonicTime.now.sinceStart.nanoseconds
            return
        }
        switch command {
        case .begin: break
        case .lease(let new): lease = new
        case .terminate: terminate()
        case .kill: killTree()
        }
    }

    /// Accepts the connection of a later process of the service.
    private mutating func connect() {
        let new = accept(listener, nil, nil)
        guard new >= 0 else { return }
        if connection >= 0 { close(connection) }
        connection = new
        KeeperSocket.send(json: KeeperReport.began(running), on: connection)
        running.aloneSince = nil
    }

    /// Acts on the lease while no service is connected.
    private mutating func act() {
        guard let alone = running.aloneSince else { return }
        let deadlines = lease.deadlines(aloneSince: alone)
        let now = MonotonicTime.now.sinceStart.nanoseconds
        if now >= deadlines.kill { return killTree() }
        if now >= deadlines.term, !running.wasAskedToEnd { terminate() }
    }

    private mutating func terminate() {
        running.wasAskedToEnd = true
        wasEnded = true
        kill(-running.pid, SIGTERM)
    }

    private mutating func killTree() {
        wasEnded = true
        // One signal for the whole group: no member can fork meanwhile.
        kill(-running.pid, SIGKILL)
        // Reap these before searching for others. A tree that keeps forking interrupts each wait, so the wait is bounded.
        let limit = MonotonicTime.now.sinceStart + .milliseconds(20 * Self.groupPatience)
        while !reap(), clinux_poll(nil, 0, Self.groupPatience) < 0, MonotonicTime.now.sinceStart < limit {}
        endTree()
    }

    /// Reaps ended children; returns whether none is left.
    @discardableResult
    private mutating func reap() -> Bool { TreeEnd.reap { note($0, $1) } }

    private mutating func note(_ pid: pid_t, _ status: CInt) {
        guard pid == running.pid, end == nil else { return }
        end = CommandEnd(
            exitStatus: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F,
            wasEnded: wasEnded,
            time: MonotonicTime.now.sinceStart.nanoseconds
        )
    }

    private mutating func endTree() {
        let isComplete = TreeEnd.killDescendants(until: MonotonicTime.now.sinceStart + Self.patience) { note($0, $1) }
        var end =
            end ?? CommandEnd(exitStatus: 128 + SIGKILL, wasEnded: true, time: MonotonicTime.now.sinceStart.nanoseconds)
        end.isComplete = isComplete
        self.end = end
    }

    private mutating func dropOutput() {
        if let descriptor = output?.readEnd { close(descriptor) }
        output = nil
    }

    /// Kills the remaining processes of an ended command, and reports the end to the service.
    private mutating func finish() {
        // Not again for processes that hang: the service waits hardly longer than one such attempt.
        if end?.isComplete != false { endTree() }
        // At most the content of the pipe: a process outside of the tree may still hold its other end.
        _ = output?.copy()
        guard let end else { return }
        if let path = order.result, let data = try? JSONEncoder().encode(end) {
            try? data.write(to: URL(filePath: path), options: .atomic)
        }
        if connection >= 0 {
            KeeperSocket.send(json: KeeperReport.ended(end), on: connection)
            close(connection)
        }
        if let path = order.socket { unlink(path) }
        guard !end.isComplete else { return }
        // Processes that cannot be killed now remain children. When one ends, kill the rest again.
        while waitpid(-1, nil, 0) > 0 || errno == EINTR {
            _ = TreeEnd.killDescendants(until: MonotonicTime.now.sinceStart) { _, _ in }
        }
    }
}
