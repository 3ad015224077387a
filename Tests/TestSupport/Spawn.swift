package import Foundation

/// Starts the program at `path`; its descriptors are those of `descriptors` (its own number: ours), 0 to 2 that are not there lead
/// nowhere, and nothing else is inherited that is closed at an exec.
///
/// - Returns: the id of a child of this process, which the caller must reap.
package func spawn(
    _ path: String,
    _ arguments: [String],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    descriptors: [Int32: Int32] = [:]
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for own in Int32(0)...2 where descriptors[own] == nil {
        posix_spawn_file_actions_addopen(&actions, own, "/dev/null", O_RDWR, 0)
    }
    for (own, ours) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, own) }
    // Threads of a pool block signals, and a child would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in argv + variables { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, path, &actions, &attributes, argv, variables)
    guard code == 0 else { throw SystemCallFailure("posix_spawn \(path)", code) }
    return pid
}

/// A pipe whose ends are closed at an exec, from their first moment on; made of sockets, since Swift does not see pipe2(2).
package struct PipeEnds {
    package let readEnd: Int32
    package let writeEnd: Int32

    package init() throws {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemCallFailure("socketpair") }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }
}

/// A call of the kernel that failed where a test needs it.
package struct SystemCallFailure: Error, CustomStringConvertible {
    package var call: String
    package var code: Int32

    package init(_ call: String, _ code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
