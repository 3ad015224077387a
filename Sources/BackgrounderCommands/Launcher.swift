import BackgrounderAPI
import Dispatch
import FoundationEssentials
import Glibc

/// Starts `backgrounderd`, which lies beside this program.
enum Launcher {
    private static let patience: Int32 = 30  // judgement: seconds until a start counts as hanging

    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which Swift sees only with `_GNU_SOURCE`.
    private static let setSession: Int32 = 0x80

    /// Absolute path of the service's program.
    static var daemonPath: String {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return RuntimePaths.absolute(own + "/../backgrounderd")
    }

    /// Puts the service in the place of this process.
    static func exec(_ arguments: [String]) throws -> Never {
        try withCStrings([daemonPath] + arguments) { argv in
            execv(daemonPath, argv)
            throw CommandFailure(
                "cannot run \(daemonPath): \(String(cString: strerror(errno))); install both programs in one folder"
            )
        }
    }

    /// Starts the service in a session of its own, detached from terminal and shell, and waits until it is ready.
    ///
    /// - Returns: its process id.
    /// - Throws: ``CommandFailure`` with the service's own reason when it does not get ready; 64 where an option is wrong.
    static func spawnDetached(_ arguments: [String]) throws -> pid_t {
        let ready = try Pipe()
        let complaints = try Pipe()
        closeAllAtExec()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, complaints.writeEnd, STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ready.writeEnd, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = setSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))

        var pid: pid_t = 0
        let code = try withCStrings([daemonPath] + arguments + ["--ready-descriptor", "3"]) { argv in
            posix_spawn(&pid, daemonPath, &actions, &attributes, argv, environ)
        }
        guard code == 0 else {
            throw CommandFailure(
                "cannot run \(daemonPath): \(String(cString: strerror(code))); install both programs in one folder"
            )
        }
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
            return errno == ENOENT || errno == ENOTDIR ? "no such file or folder" : String(cString: strerror(errno))
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

    /// Lets no descriptor of the caller but the standard three reach a child: the service would hold pipes and files of a
    /// shell for as long as it runs.
    private static func closeAllAtExec() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in names.compactMap({ Int32($0) }) where descriptor > STDERR_FILENO {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
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
