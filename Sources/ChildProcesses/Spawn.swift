import BackgrounderAPI
import CLinux
import Glibc

/// A program that cannot be started.
package struct SpawnFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Step: String, Codable, Sendable {
        /// The directory that it would begin in.
        case directory
        /// The program itself.
        case program
        /// What holds its processes together; nothing that the command can help.
        case keeper
    }

    package var step: Step
    /// The program or the directory.
    package var name: String
    /// An `errno`.
    package var code: Int32

    package init(_ step: Step, _ name: String, _ code: Int32) {
        (self.step, self.name, self.code) = (step, name, code)
    }

    package var description: String {
        let reason: String
        switch (step, code) {
        case (.program, ENOENT): reason = "no such command"
        case (.program, EACCES): reason = "it may not be executed; `chmod +x` allows it"
        case (.program, EISDIR): reason = "it is a folder"
        case (.program, ENOEXEC): reason = "it is no program and names no interpreter in its first line (#!/bin/sh)"
        case (.directory, ENOENT): reason = "no such folder"
        default: reason = systemMessage(code)
        }
        return step == .directory ? "cannot begin in \(name): \(reason)" : "cannot start \(name): \(reason)"
    }
}

/// Starts programs with nothing of ours but what is given to them.
package struct Spawn {
    /// The program, where it is another than the first argument.
    var path: String?
    /// The program and its arguments; one without a slash is looked for in PATH.
    var arguments: [String]
    /// All of the environment: `NAME=VALUE`.
    var environment: [String]
    var directory: String?
    /// Which of ours become 0, 1, 2 and so on; the others are closed.
    var descriptors: [CInt]

    package init(
        path: String? = nil,
        arguments: [String],
        environment: [String],
        directory: String? = nil,
        descriptors: [CInt]
    ) {
        (self.path, self.arguments, self.environment) = (path, arguments, environment)
        (self.directory, self.descriptors) = (directory, descriptors)
    }

    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which Swift sees only with `_GNU_SOURCE`.
    private static let setSession: CInt = 0x80

    /// Starts it in a session and a group of its own, with signals as a fresh process has them.
    ///
    /// - Returns: the id of a child of this process, which the caller must reap.
    package func run() throws(SpawnFailure) -> Int32 {
        let program = path ?? arguments.first ?? ""
        // Empty, it would be "Permission denied" for the folder it names.
        guard !program.isEmpty else { throw SpawnFailure(.program, "\"\"", ENOENT) }
        if let directory { try check(directory) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // First out of the way of the numbers that they get, which others of them may have.
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
        let flags = Self.setSession | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
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

    /// Told apart here: the child's own failure does not say which of its steps it was.
    private func check(_ directory: String) throws(SpawnFailure) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        // What may only be entered is enough.
        guard errno == EACCES, access(directory, X_OK) == 0 else { throw SpawnFailure(.directory, directory, errno) }
    }
}
