import CLinux
import Glibc
import SystemSupport

/// The error for a program that cannot be started.
package struct SpawnFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The step that failed.
    package enum Step: String, Codable, Sendable {
        /// Entering the working directory.
        case directory
        /// Executing the program.
        case program
        /// Starting the keeper process; the command is not at fault.
        case keeper
    }

    package var step: Step
    /// The program or the directory.
    package var name: String
    /// An `errno`.
    package var code: Int32

    /// Creates a failure.
    package init(_ step: Step, _ name: String, _ code: Int32) {
        (self.step, self.name, self.code) = (step, name, code)
    }

    package var description: String {
        let reason: String
        switch (step, code) {
        case (.program, ENOENT): reason = "no such command"
        case (.program, EACCES): reason = "permission denied; run `chmod +x` on it"
        case (.program, EISDIR): reason = "it is a folder"
        case (.program, ENOEXEC): reason = "it is not a program and its first line names no interpreter (#!/bin/sh)"
        case (.directory, ENOENT): reason = "no such folder"
        default: reason = systemMessage(code)
        }
        return step == .directory ? "cannot enter \(name): \(reason)" : "cannot start \(name): \(reason)"
    }
}

/// Starts programs that inherit nothing from this process except what is passed explicitly.
package struct Spawn {
    /// The program, if it differs from the first argument.
    var path: String?
    /// The program and its arguments. A program without a slash is searched in PATH.
    var arguments: [String]
    /// The whole environment, as `NAME=VALUE`.
    var environment: [String]
    var directory: String?
    /// The descriptors of this process that become 0, 1, 2 and so on; all others are closed.
    var descriptors: [CInt]
    /// Whether the program gets a session and process group of its own, without the terminal of this process.
    var isDetached: Bool

    /// Creates a spawn from its parts; ``run()`` starts it.
    package init(
        path: String? = nil,
        arguments: [String],
        environment: [String],
        directory: String? = nil,
        descriptors: [CInt],
        isDetached: Bool = true
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.directory, self.descriptors, self.isDetached) = (directory, descriptors, isDetached)
    }

    /// `POSIX_SPAWN_SETSID` from <spawn.h>, which Swift sees only with `_GNU_SOURCE`.
    private static let setSession: CInt = 0x80

    /// Starts the program with default signal handling.
    ///
    /// - Returns: the pid of the child, which the caller must reap.
    /// - Throws: ``SpawnFailure``.
    package func run() throws(SpawnFailure) -> Int32 {
        let program = path ?? arguments.first ?? ""
        // An empty name would fail with "Permission denied" for a folder.
        guard !program.isEmpty else { throw SpawnFailure(.program, "\"\"", ENOENT) }
        if let directory { try check(directory) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Move them out of the way of their future numbers, which others of them may have.
        let parked = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, CInt(descriptors.count)) }
        defer { for descriptor in parked where descriptor >= 0 { close(descriptor) } }
        guard parked.allSatisfy({ $0 >= 0 }) else { throw SpawnFailure(.program, program, EMFILE) }
        for (number, descriptor) in parked.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, CInt(number))
        }
        _ = clinux_add_close_from(&actions, CInt(descriptors.count))
        if let directory { _ = clinux_add_directory(&actions, directory) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = (isDetached ? Self.setSession : 0) | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))

        let argv = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + variables { free(pointer) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, program, &actions, &attributes, argv, variables)
        guard code == 0 else {
            throw SpawnFailure(.program, program, code == EACCES && isFolder(program) ? EISDIR : code)
        }
        return pid
    }

    private func isFolder(_ program: String) -> Bool {
        let path = program.hasPrefix("/") ? program : (directory ?? ".") + "/" + program
        var facts = stat()
        return program.contains("/") && stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Checks the directory beforehand: the failure of the child does not say which step failed.
    private func check(_ directory: String) throws(SpawnFailure) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        // The right to enter is enough.
        guard errno == EACCES, access(directory, X_OK) == 0 else { throw SpawnFailure(.directory, directory, errno) }
    }
}
