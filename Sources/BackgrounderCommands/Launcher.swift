import BackgrounderAPI
import ChildProcesses
import Dispatch
import FoundationEssentials
import Glibc

/// Starts `backgrounderd`, which lies beside this program.
enum Launcher {
    private static let patience: Int32 = 30  // judgement: seconds until a start counts as hanging

    /// Absolute path of the service's program.
    static var daemonPath: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return RuntimePaths.absolute(own + "/../backgrounderd")
    }

    /// Puts the service's program in the place of this process, and lets it speak with this one's name.
    static func exec(_ arguments: [String]) throws -> Never {
        try withCStrings([Backgrounder.commandName] + arguments) { argv in
            execv(daemonPath, argv)
            throw cannotRun(errno)
        }
    }

    private static func cannotRun(_ code: Int32) -> CommandFailure {
        CommandFailure("cannot run \(daemonPath): \(systemMessage(code)); install both programs in one folder")
    }

    /// Starts the service in a session of its own, detached from terminal and shell, and waits until it is ready.
    ///
    /// - Returns: its process id.
    /// - Throws: ``CommandFailure`` with the service's own reason when it does not get ready; 64 where an option is wrong.
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
                "the service was not ready after \(patience) s and was stopped; `backgrounder log` may say why"
            )
        case .end:
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            let reason = complaints.readAll().split(separator: "\n").first.map(String.init)
            throw CommandFailure(
                reason?.withoutPrefix("backgrounderd: ") ?? "the service ended at once; `backgrounder log` may say why",
                exitCode: status == 64 << 8 ? 64 : 1
            )
        }
    }

    /// What keeps the service from starting with its configuration, in its own words; `nil` where nothing does.
    static func configurationProblem(_ arguments: [String]) throws -> String? {
        let complaints = try Pipe()
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nowhere) }
        let check = Spawn(
            arguments: [daemonPath] + arguments + ["--check-configuration"],
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
            descriptors: [nowhere, nowhere, complaints.writeEnd]
        )
        let pid: pid_t
        do throws(SpawnFailure) { pid = try check.run() } catch { throw cannotRun(error.code) }
        complaints.closeWriteEnd()
        let words = complaints.readAll().split(separator: "\n").first.map(String.init)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? nil : words?.withoutPrefix("backgrounderd: ") ?? "the configuration cannot be checked"
    }

    /// What `body` gives, with a service started for it where none runs and `items` are to be played.
    ///
    /// What does not exist is no reason to start one: then `body`'s own failure stands.
    static func startingService<Result>(
        _ paths: RuntimePaths,
        neededBy items: [String]?,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let failure as CommandFailure where failure.exitCode == CommandFailure.notRunning.exitCode {
            guard let items, !items.isEmpty else { throw failure }
            for item in items {
                if let reason = refusal(of: item) { throw CommandFailure("\(item): \(reason)", exitCode: 4) }
            }
            let pid = try spawnDetached(paths.home.map { ["--home", $0] } ?? [])
            Output.note("started the service, pid \(pid); `backgrounder stop` ends it")
            return try await body()
        }
    }

    /// Why there is nothing to play at `path`, in the service's words.
    private static func refusal(of path: String) -> String? {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            return errno == ENOENT || errno == ENOTDIR ? "no such file or folder" : systemMessage(errno)
        }
        switch facts.st_mode & S_IFMT {
        case S_IFREG, S_IFDIR: return nil
        case S_IFIFO: return "a FIFO cannot be played, only files and folders of them"
        default: return "a device or socket cannot be played, only files and folders of them"
        }
    }

    /// Returns when the process that holds the lock at `path` has ended, or after `seconds`.
    ///
    /// - Returns: whether it has ended.
    static func waitForEnd(lock path: String, seconds: Int) async -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        // A lock has no timeout. At the deadline this thread is left to wait, and ends with the process.
        DispatchQueue(label: "backgrounder.lock").async {
            while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
            close(descriptor)
            answer.yield(true)
        }
        DispatchQueue(label: "backgrounder.deadline").asyncAfter(deadline: .now() + .seconds(seconds)) {
            answer.yield(false)
        }
        return await answers.first { _ in true } ?? false
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
