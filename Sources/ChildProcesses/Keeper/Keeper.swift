import CLinux
import FoundationEssentials
import Glibc

/// A process between the service and one command: it adopts whatever the command's processes leave behind, so that it can end
/// all of them for certain, takes the output, and goes on when the service is killed, to end the command in time or to give it
/// back to the next service.
///
/// It is the service's own program again under another name, and has one thread.
package struct Keeper {
    /// What the process is called: not as the service, which may be killed by its name.
    package static let name = "task-keeper"
    /// The socket that the service left open for it; 1 and 2 are the command's, where it takes no output itself.
    static let socket: CInt = 3
    /// judgement: what is not gone so long after SIGKILL hangs in the kernel
    private static let patience = Duration.seconds(5)
    /// judgement: milliseconds in which the next of a killed group ends
    private static let groupPatience = 5

    private let order: CommandOrder
    private var running: RunningCommand
    private var lease: Lease
    private var connection: CInt
    private var listener: CInt = -1
    private var output: OutputKeeper?
    private var wasEnded = false
    private var end: CommandEnd?

    /// Keeps the command of a service that started this process as its keeper, and ends the process; returns at once in any
    /// other. To be called first thing in main, while there is one thread.
    package static func runIfThisIsOne() {
        guard CommandLine.arguments.first == name else { return }
        clinux_set_name(name)
        // It is told what to do on its socket, and outlives who is told otherwise.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
        // A handler, so that a child's end wakes the wait.
        signal(SIGCHLD) { _ in }
        var children = sigset_t()
        sigemptyset(&children)
        sigaddset(&children, SIGCHLD)
        sigprocmask(SIG_BLOCK, &children, nil)
        _ = clinux_adopt_orphans()
        guard case .begin(let order)? = KeeperSocket.receiveCommand(on: socket) else { exit(1) }
        do {
            var keeper = try Keeper(order)
            keeper.run()
        } catch {
            KeeperSocket.send(
                json: KeeperReport.refused(step: error.step, name: error.name, code: error.code),
                on: socket
            )
            exit(1)
        }
        exit(0)
    }

    /// Starts the command.
    private init(_ order: CommandOrder) throws(SpawnFailure) {
        self.order = order
        lease = order.lease
        connection = Self.socket
        if let path = order.socket { listener = try Self.listen(path) }
        var descriptors: [CInt] = [0, 1, 2]
        var writeEnd: CInt = -1
        if let file = order.output {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw SpawnFailure(.keeper, Self.name, errno) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            output = OutputKeeper(file, readEnd: ends[0])
            writeEnd = ends[1]
            descriptors = [0, writeEnd, writeEnd]
        }
        // The service gave this process only what commands may see.
        let environment = ProcessInfo.processInfo.environment.merging(order.environment) { $1 }
        // The command is looked for in its own PATH.
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
        // It is not reaped yet, so that this is it even if it has ended.
        running = RunningCommand(
            pid: pid,
            start: ProcessEntry(pid)?.start ?? 0,
            keeper: getpid(),
            wasAskedToEnd: false
        )
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

    /// Waits until there is something to do, and takes what came.
    private mutating func wait() {
        var descriptors = [connection, listener, output?.readEnd ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard clinux_poll(&descriptors, descriptors.count, milliseconds) > 0 else { return }
        if descriptors[2].revents != 0, output?.take() == false { dropOutput() }
        if descriptors[0].revents != 0 { obey() }
        if descriptors[1].revents != 0 { connect() }
    }

    /// Until the next deadline; -1 where there is none.
    private var milliseconds: Int {
        guard let alone = running.aloneSince else { return -1 }
        let deadlines = lease.deadlines(aloneSince: alone)
        let next = running.wasAskedToEnd ? deadlines.kill : deadlines.term
        return Int(max(0, (next - monotonicTime().nanoseconds + 999_999) / 1_000_000))
    }

    private mutating func obey() {
        guard let command = KeeperSocket.receiveCommand(on: connection) else {
            close(connection)
            connection = -1
            running.aloneSince = monotonicTime().nanoseconds
            return
        }
        switch command {
        case .begin: break
        case .lease(let new): lease = new
        case .terminate: terminate()
        case .kill: killTree()
        }
    }

    /// A later process of the service.
    private mutating func connect() {
        let new = accept(listener, nil, nil)
        guard new >= 0 else { return }
        if connection >= 0 { close(connection) }
        connection = new
        KeeperSocket.send(json: KeeperReport.began(running), on: connection)
        running.aloneSince = nil
    }

    /// What it does by itself while it is alone.
    private mutating func act() {
        guard let alone = running.aloneSince else { return }
        let deadlines = lease.deadlines(aloneSince: alone)
        let now = monotonicTime().nanoseconds
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
        // In one step for all of the group: none of it forks meanwhile.
        kill(-running.pid, SIGKILL)
        // The ends of these are seen as they come, before the search for what else there is; a tree that goes on forking
        // interrupts each wait.
        let limit = monotonicTime() + .milliseconds(20 * Self.groupPatience)
        while !reap(), clinux_poll(nil, 0, Self.groupPatience) < 0, monotonicTime() < limit {}
        endTree()
    }

    /// - Returns: whether there is no child any more.
    @discardableResult
    private mutating func reap() -> Bool { TreeEnd.reap { note($0, $1) } }

    private mutating func note(_ pid: pid_t, _ status: CInt) {
        guard pid == running.pid, end == nil else { return }
        end = CommandEnd(
            exitStatus: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F,
            wasEnded: wasEnded,
            time: monotonicTime().nanoseconds
        )
    }

    private mutating func endTree() {
        let isComplete = TreeEnd.killDescendants(until: monotonicTime() + Self.patience) { note($0, $1) }
        var end = end ?? CommandEnd(exitStatus: 128 + SIGKILL, wasEnded: true, time: monotonicTime().nanoseconds)
        end.isComplete = isComplete
        self.end = end
    }

    private mutating func dropOutput() {
        if let descriptor = output?.readEnd { close(descriptor) }
        output = nil
    }

    /// The command has ended: whatever it left goes, and the service is told.
    private mutating func finish() {
        // Not once more for what hangs: the service waits little longer than one such time.
        if end?.isComplete != false { endTree() }
        // At most what the pipe holds; who is not of the tree may still have its other end.
        _ = output?.take()
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
        // It holds what cannot be ended now. It wakes up when some of that ends, and tries once more with the rest.
        while waitpid(-1, nil, 0) > 0 || errno == EINTR {
            _ = TreeEnd.killDescendants(until: monotonicTime()) { _, _ in }
        }
    }
}
