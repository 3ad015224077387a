import CLinux
import FoundationEssentials
import Glibc
import Synchronization
package import SystemSupport

/// A command that runs under a ``Keeper``, with everything that it starts.
///
///     let process = try await KeptProcess.begin(CommandOrder(["sync", "-a"], mark: mark), keeper: "/proc/self/exe")
///     process.terminate()
///     let end = await process.end()
///
/// Its methods may be called on any thread and never block. A thread of its own waits for the keeper; nothing wakes up while the
/// command runs without output.
package final class KeptProcess: Sendable {
    package let running: RunningCommand
    private let connection: Connection
    private let outcome: Outcome
    private let keeper: ProcessEntry?

    /// Tuned: seconds for a keeper to accept a connection.
    private static let patience = 2
    /// Tuned: seconds for a keeper to answer after a restart of the service with many tasks.
    private static let answerPatience = 10
    /// Tuned: seconds for the start of a command.
    private static let startPatience = 20
    /// Tuned: bytes of an order that the kernel must accept in one packet.
    private static let orderSize = 1 << 20
    /// Tuned: how long the processes of a killed keeper are searched.
    private static let sweepLimit = Duration.seconds(5)

    private init(_ running: RunningCommand, _ connection: Connection, _ outcome: Outcome) {
        (self.running, self.connection, self.outcome) = (running, connection, outcome)
        keeper = ProcessEntry(running.keeper)
    }

    /// Starts the command of `order`, and returns when it runs.
    ///
    /// - Parameters:
    ///   - program: the path of `backgrounderd`; in the service `/proc/self/exe`, which exists even after an update.
    ///   - input: a descriptor for the command's stdin, which stays open here; `nil` for /dev/null.
    ///   - output: descriptors for the command's stdout and stderr if the keeper does not take the output; they stay open here.
    /// - Throws: ``SpawnFailure``.
    package static func begin(
        _ order: CommandOrder,
        keeper program: String,
        input: CInt? = nil,
        output: (stdout: CInt, stderr: CInt)? = nil
    ) async throws(SpawnFailure) -> KeptProcess {
        let answer = await withCheckedContinuation { continuation in
            do throws(SystemRefusal) {
                try detachThread(named: "keeper watch", stackSize: smallStack) {
                    serve(order, program, input, output) { continuation.resume(returning: $0) }
                }
            } catch {
                continuation.resume(returning: .failure(SpawnFailure(.keeper, program, error.code)))
            }
        }
        return try answer.get()
    }

    /// Returns the command of a keeper that outlived an earlier service; `nil` if no keeper answers at `path`.
    ///
    /// - Parameter mark: the mark of its order.
    package static func find(socket path: String, mark: String) async -> KeptProcess? {
        await withCheckedContinuation { continuation in
            do throws(SystemRefusal) {
                try detachThread(named: "keeper watch", stackSize: smallStack) {
                    find(path, mark) { continuation.resume(returning: $0) }
                }
            } catch {
                continuation.resume(returning: nil)
            }
        }
    }

    /// Kills the remaining processes of a command whose keeper is gone.
    ///
    /// - Parameters:
    ///   - running: the command, as far as it is known.
    ///   - mark: the mark of its order.
    /// - Returns: whether nothing visible is left of it.
    @discardableResult
    package static func sweep(_ running: RunningCommand?, mark: String) async -> Bool {
        await blocking(onThread: "process sweep") {
            TreeEnd.sweep(
                leader: running?.pid,
                begun: running?.start,
                mark: mark,
                until: MonotonicTime.now.sinceStart + sweepLimit
            )
        }
    }

    /// Replaces the lease of the order, by which the keeper acts if this process dies.
    package func lease(_ lease: Lease) { connection.send(.lease(lease)) }

    /// Sends SIGTERM to the command's process group.
    package func terminate() { connection.send(.terminate) }

    /// Kills the whole process tree.
    package func kill() {
        connection.send(.kill)
        wakeKeeper()
    }

    /// Like ``kill()``, for killing many commands quickly. Call ``wakeKeeper()`` afterwards, which takes longer.
    package func killFirst() { connection.send(.kill) }

    /// Continues the keeper in case a process of the tree has stopped it.
    package func wakeKeeper() { keeper?.signal(SIGCONT) }

    /// Kills a keeper that does not obey; this process then kills the tree.
    package func killKeeper() { keeper?.signal(SIGKILL) }

    /// Waits until the command has ended and nothing of it is left.
    ///
    /// - Returns: the end of the command; `nil` if it is unknown because the keeper was killed.
    package func end() async -> CommandEnd? { await outcome.value() }

    // On a thread of its own.
    private static func serve(
        _ order: CommandOrder,
        _ program: String,
        _ input: CInt?,
        _ output: (stdout: CInt, stderr: CInt)?,
        _ answer: (Result<KeptProcess, SpawnFailure>) -> Void
    ) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            return answer(.failure(SpawnFailure(.keeper, program, errno)))
        }
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        let connection = Connection(ends[0])
        let pid: pid_t
        do {
            defer { close(ends[1]) }
            pid = try Spawn(
                path: program,
                arguments: [KeeperProgram.name],
                environment: CommandEnvironment.inherited.map { "\($0.key)=\($0.value)" },
                directory: nil,
                descriptors: [input ?? nowhere, output?.stdout ?? nowhere, output?.stderr ?? nowhere, ends[1]]
            ).run()
        } catch {
            connection.close()
            return answer(.failure(SpawnFailure(.keeper, program, error.code)))
        }
        // Nothing else reaps the keeper, so an earlier end is not lost.
        defer { while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
        var room = CInt(orderSize)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<CInt>.size))
        guard connection.send(.begin(order)) != EMSGSIZE else {
            // Without an order the keeper exits.
            connection.close()
            return answer(.failure(SpawnFailure(.program, order.arguments.first ?? "", E2BIG)))
        }
        // A command may stop its keeper before the keeper reports that it runs.
        setTimeouts(ends[0], seconds: startPatience)
        let report = KeeperSocket.receive(KeeperReport.self, on: ends[0])
        setTimeouts(ends[0], seconds: 0)
        guard case .began(let running)? = report else {
            connection.close()
            Glibc.kill(pid, report == nil ? SIGKILL : SIGCONT)
            guard case .refused(let step, let name, let code)? = report else {
                _ = TreeEnd.sweep(
                    leader: nil,
                    begun: nil,
                    mark: order.mark,
                    until: MonotonicTime.now.sinceStart + sweepLimit
                )
                return answer(.failure(SpawnFailure(.keeper, program, ECHILD)))
            }
            return answer(.failure(SpawnFailure(step, name, code)))
        }
        let process = KeptProcess(running, connection, Outcome())
        answer(.success(process))
        follow(running, process.outcome, connection, ends[0], order.mark)
    }

    private static func find(_ path: String, _ mark: String, _ answer: (KeptProcess?) -> Void) {
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return answer(nil) }
        let connection = Connection(descriptor)
        setTimeouts(descriptor, seconds: patience)
        guard let address = KeeperSocket.address(path),
            KeeperSocket.with(address, { connect(descriptor, $0, $1) }) == 0
        else {
            connection.close()
            return answer(nil)
        }
        setTimeouts(descriptor, seconds: answerPatience)
        guard case .began(let running)? = KeeperSocket.receive(KeeperReport.self, on: descriptor) else {
            connection.close()
            return answer(nil)
        }
        setTimeouts(descriptor, seconds: 0)
        let process = KeptProcess(running, connection, Outcome())
        answer(process)
        follow(running, process.outcome, connection, descriptor, mark)
    }

    /// Waits for the end of the keeper.
    private static func follow(
        _ running: RunningCommand,
        _ outcome: Outcome,
        _ connection: Connection,
        _ descriptor: CInt,
        _ mark: String
    ) {
        var end: CommandEnd?
        while let report = KeeperSocket.receive(KeeperReport.self, on: descriptor) {
            if case .ended(let value) = report { end = value }
        }
        connection.close()
        if end == nil {
            _ = TreeEnd.sweep(
                leader: running.pid,
                begun: running.start,
                mark: mark,
                until: MonotonicTime.now.sinceStart + sweepLimit
            )
        }
        outcome.resolve(end)
    }

    private static func setTimeouts(_ descriptor: CInt, seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }
}

/// A descriptor that is not used after it is closed.
private final class Connection: Sendable {
    private let descriptor: Mutex<CInt>

    init(_ descriptor: CInt) { self.descriptor = Mutex(descriptor) }

    /// Sends a command; returns 0 or an `errno`.
    @discardableResult
    func send(_ command: KeeperCommand) -> CInt {
        descriptor.withLock { descriptor in
            descriptor >= 0 ? KeeperSocket.send(command, on: descriptor) : EBADF
        }
    }

    func close() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { Glibc.close(descriptor) }
            descriptor = -1
        }
    }
}

/// A value that becomes known once, for any number of waiting callers.
private final class Outcome: Sendable {
    private enum State {
        case waiting([CheckedContinuation<CommandEnd?, Never>])
        case known(CommandEnd?)
    }

    private let state = Mutex(State.waiting([]))

    func value() async -> CommandEnd? {
        await withCheckedContinuation { continuation in
            let known: CommandEnd?? = state.withLock { state in
                switch state {
                case .waiting(let others):
                    state = .waiting(others + [continuation])
                    return nil
                case .known(let end): return .some(end)
                }
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    func resolve(_ end: CommandEnd?) {
        let waiting: [CheckedContinuation<CommandEnd?, Never>] = state.withLock { state in
            defer { state = .known(end) }
            return if case .waiting(let all) = state { all } else { [] }
        }
        for continuation in waiting { continuation.resume(returning: end) }
    }
}
