import Foundation

/// Processes of the machine, by what stands in their command lines.
package enum ProcessSearch {
    /// The ids of those that run and whose command line has `text` in it; those that ended and were not reaped have none.
    package static func running(with text: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { pid in
            // By hand: the files of /proc have no size, and those of a process that ends fail in ways of their own.
            let descriptor = open("/proc/\(pid)/cmdline", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(descriptor, &bytes, bytes.count)
            return count > 0 && bytes[..<count].firstRange(of: Array(text.utf8)) != nil
        }
    }

    /// The id of the parent of `pid`; `nil` when that is gone.
    package static func parent(of pid: Int32) -> Int32? {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return nil }
        return status.split(separator: "\n").first { $0.hasPrefix("PPid:") }
            .flatMap { Int32($0.dropFirst("PPid:".count).trimmingCharacters(in: .whitespaces)) }
    }

    /// Returns when none of `pids` runs any more.
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

/// Shell commands that make trees of processes which do not want to end. `token` stands in the command line of every process.
package enum HostileTree {
    /// The whole of it; prints `ready` when the tree stands.
    ///
    /// It ignores SIGTERM, makes sessions of its own, forks twice, clears its environment, takes another name, forks in a loop,
    /// and hops from process to process.
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

    /// The same without what is busy all the time, so that many of them can stand at once.
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
