import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Glibc
import SystemSupport

/// Starts `backgrounderd`, which is installed in the same folder as this program.
enum Launcher {
    /// Seconds to wait for the service to become ready.
    private static let patience: Int32 = 30  // Tuned: a start that takes longer counts as hanging

    /// The absolute path of `backgrounderd`.
    static var daemonPath: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return RuntimePaths.absolute(own + "/../backgrounderd")
    }

    /// Replaces this process with `backgrounderd`, which then prints errors under the name `backgrounder`.
    static func exec(_ arguments: [String]) throws -> Never {
        try withCStrings([Backgrounder.commandName] + arguments) { argv in
            execv(daemonPath, argv)
            throw cannotRun(errno)
        }
    }

    private static func cannotRun(_ code: Int32) -> CommandFailure {
        CommandFailure(
            "cannot run \(daemonPath): \(systemMessage(code)); install backgrounder and backgrounderd in the same folder"
        )
    }

    /// Starts the service in its own session, detached from the terminal and the shell, and waits until it is ready.
    ///
    /// - Returns: The process id of the service.
    /// - Throws: ``CommandFailure`` with the service's own message if it fails to start; with exit code 64 for an
    ///   invalid option.
    static func spawnDetached(_ arguments: [String]) throws -> pid_t {
        let ready = try Pipe()
        let complaints = try Pipe()
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        let service = Spawn(
            arguments: [daemonPath] + arguments + ["--ready-descriptor", "3"],
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
            descriptors: [nowhere, nowhere, complaints.writeEnd, ready.writeEnd]
        )
        let pid: pid_t
        do throws(SpawnFailure) { pid = try service.run() } catch { throw cannotRun(error.code) }
        ready.closeWriteEnd()
        complaints.closeWriteEnd()
        switch ready.readLine(timeout: patience) {
        case .line: return pid
        case .timeout:
            kill(pid, SIGKILL)
            throw CommandFailure(
                "the service was not ready after \(patience) s and was killed; see `backgrounder log`"
            )
        case .end:
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            let reason = complaints.readAll().split(separator: "\n").first.map(String.init)
            throw CommandFailure(
                reason?.withoutPrefix("backgrounderd: ") ?? "the service exited immediately; see `backgrounder log`",
                exitCode: status == 64 << 8 ? 64 : 1
            )
        }
    }

    /// Returns the service's message about a faulty configuration, or `nil` if the configuration is valid.
    static func configurationProblem(_ arguments: [String]) throws -> String? {
        let (status, words) = try run(arguments + ["--check"], reading: STDERR_FILENO)
        let line = words.split(separator: "\n").first.map(String.init)
        return status == 0 ? nil : line?.withoutPrefix("backgrounderd: ") ?? "cannot check the configuration"
    }

    /// Returns the results of the checks that need no running service.
    ///
    /// - Parameter arguments: the options of the service.
    static func inspection(_ arguments: [String], isRunning: Bool) throws -> DoctorReport {
        let arguments = arguments + ["inspect"] + (isRunning ? ["--running"] : [])
        let (status, output) = try run(arguments, reading: STDOUT_FILENO)
        guard status == 0, let report = try? JSON.decode(DoctorReport.self, from: Data(output.utf8)) else {
            throw CommandFailure(
                "cannot run the checks of \(daemonPath); check that both programs have the same version"
            )
        }
        return report
    }

    /// Runs `backgrounderd` until it ends.
    ///
    /// - Returns: its wait status, and what it wrote to `descriptor`, 1 or 2.
    private static func run(_ arguments: [String], reading descriptor: Int32) throws -> (status: Int32, text: String) {
        let pipe = try Pipe()
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        let program = Spawn(
            arguments: [daemonPath] + arguments,
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
            descriptors: (0...2).map { $0 == descriptor ? pipe.writeEnd : nowhere }
        )
        let pid: pid_t
        do throws(SpawnFailure) { pid = try program.run() } catch { throw cannotRun(error.code) }
        pipe.closeWriteEnd()
        let text = pipe.readAll()
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return (status, text)
    }

    /// Returns the result of `body`. If the service is not running and `items` has paths to play, starts it and tries
    /// again.
    ///
    /// - Throws: ``CommandFailure`` without starting the service if one of the items cannot be played.
    static func startingService<Result>(
        _ paths: RuntimePaths,
        neededBy items: [String]?,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as CommandFailure where failure.kind == .notRunning {
            guard let items, !items.isEmpty else { throw failure }
            for item in items {
                if let reason = refusal(of: item) { throw CommandFailure("\(item): \(reason)", exitCode: 4) }
            }
            let pid = try spawnDetached(paths.home.map { ["--home", $0] } ?? [])
            Output.note("started the service, pid \(pid); stop it with `backgrounder stop`")
            return try await body()
        }
    }

    /// Returns why `path` cannot be played, in the words of the service, or `nil` if it may be playable.
    private static func refusal(of path: String) -> String? {
        if StreamAddress.isAddress(path) { return nil }
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            return errno == ENOENT || errno == ENOTDIR ? "no such file or folder" : systemMessage(errno)
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return nil
        case S_IFIFO: return "a FIFO cannot be played; name an audio file, or a folder of them"
        default: return "a device or socket cannot be played; name an audio file, or a folder of them"
        }
    }

    /// Waits until the process that holds the lock at `path` has ended, for at most `seconds`.
    ///
    /// - Returns: Whether the process has ended.
    static func waitForEnd(lock path: String, seconds: Int) async -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        return await FileLock.isFree(descriptor, for: LOCK_SH, until: .now + .seconds(seconds))
    }
}

private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Result
) throws -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return try pointers.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress else { throw CommandFailure("no arguments") }
        return try body(base)
    }
}

extension String {
    fileprivate func withoutPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
