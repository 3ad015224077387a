import Foundation

/// Finds processes by their command lines.
package enum ProcessSearch {
    /// Returns the ids of the processes whose command line contains `text`. Zombies have no command line.
    package static func running(with text: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { pid in
            // Plain read(2): files of /proc report no size, and those of an ending process fail in special ways.
            let descriptor = open("/proc/\(pid)/cmdline", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(descriptor, &bytes, bytes.count)
            return count > 0 && bytes[..<count].firstRange(of: Array(text.utf8)) != nil
        }
    }

    /// Returns the parent of `pid`, or `nil` if `pid` is gone.
    package static func parent(of pid: Int32) -> Int32? {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return nil }
        return status.split(separator: "\n").first { $0.hasPrefix("PPid:") }
            .flatMap { Int32($0.dropFirst("PPid:".count).trimmingCharacters(in: .whitespaces)) }
    }

    /// Returns once none of `pids` is running.
    package static func waitForEnd(of pids: [Int32]) async throws {
        let script = """
            import os, select, sys
            for pid in sys.argv[1:]:
                try: select.select([os.pidfd_open(int(pid))], [], [], 30)
                except ProcessLookupError: pass
            """
        _ = try await ProgramRun.of("/usr/bin/python3", ["-c", script] + pids.map { "\($0)" }, within: 60)
    }
}

/// Shell scripts that start trees of processes which resist being ended.
///
/// The command line of every process contains `token`.
package enum HostileTree {
    /// Returns the full script, which prints `ready` once the tree is running.
    ///
    /// Its processes ignore SIGTERM, start new sessions, fork twice, clear their environment, change their names, fork in
    /// a loop, and move from process to process.
    package static func script(token: Int) -> String {
        let sleep = "sleep 86400.\(token)"
        return """
            trap '' TERM HUP INT
            setsid sh -c '\(sleep); : \(token)' &
            (setsid env -i sh -c '(\(sleep) &) ; exec \(sleep)' &)
            bash -c 'exec -a "[kworker/7:\(token)]" \(sleep)' &
            sh -c 'trap "" TERM; while :; do (setsid env -i \(sleep) &); sleep 0.\(token); done' &
            perl -MPOSIX -e '$SIG{TERM} = "IGNORE"; setsid(); my $t = \(token);
                while (1) { my $p = fork(); exit 0 if $p; setsid(); select(undef, undef, undef, 0.01); }' &
            echo ready
            while :; do wait; sleep 0.1; done; : \(token)
            """
    }

    /// Returns the script without the processes that are always busy, so that many trees can run at the same time.
    package static func quietScript(token: Int) -> String {
        let sleep = "sleep 86400.\(token)"
        return """
            trap '' TERM HUP INT
            setsid sh -c '\(sleep); : \(token)' &
            (setsid env -i sh -c '(\(sleep) &) ; exec \(sleep)' &)
            bash -c 'exec -a "[kworker/7:\(token)]" \(sleep)' &
            while :; do wait; sleep 1; done; : \(token)
            """
    }
}
