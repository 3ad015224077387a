package import Foundation

/// Starts the program at `path`.
///
/// - Parameter descriptors: Our descriptors by their numbers in the child. Of 0 to 2, missing ones are /dev/null. The
///   child inherits no other descriptor that is close-on-exec.
/// - Returns: The id of the child, which the caller must reap.
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
    // Threads of a pool block signals, and the child would inherit the mask.
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

/// A pipe with close-on-exec ends. It is a pair of sockets because pipe2(2) is not visible in Swift.
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

/// A failed system call of a test.
package struct SystemCallFailure: Error, CustomStringConvertible {
    package var call: String
    package var code: Int32

    package init(_ call: String, _ code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
