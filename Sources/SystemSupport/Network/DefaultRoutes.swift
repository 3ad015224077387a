import Glibc

/// The default routes of this machine, as listed by the kernel.
package enum DefaultRoutes {
    /// Returns the names of the interfaces with a default IPv4 or IPv6 route, sorted.
    package static func interfaces() -> [String] {
        var names: Set<String> = []
        eachLine(of: "/proc/net/route") { line in
            if line.count > 2, line[1] == "00000000" { names.insert(String(line[0])) }
        }
        let zeros = String(repeating: "0", count: 32)
        eachLine(of: "/proc/net/ipv6_route") { line in
            guard line.count > 9, line[0] == zeros, line[1] == "00", line[9] != "lo" else { return }
            names.insert(String(line[9]))
        }
        return names.sorted()
    }

    /// Calls `body` with the words of each line. Foundation would read only the first page of a file in `/proc`.
    private static func eachLine(of path: String, _ body: ([Substring]) -> Void) {
        guard let file = fopen(path, "re") else { return }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer {
            free(line)
            fclose(file)
        }
        while getline(&line, &capacity, file) > 0, let line {
            body(String(cString: line).split(whereSeparator: \.isWhitespace))
        }
    }
}
