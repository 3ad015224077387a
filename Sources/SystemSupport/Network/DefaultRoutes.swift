import Glibc

/// The default routes of this machine, as the kernel lists them.
package struct DefaultRoutes: Hashable, Sendable {
    private struct Route: Hashable {
        var interface: String
        /// As in the list.
        var gateway: String
        var metric: String
    }

    private var routes: Set<Route> = []

    /// Reads the current routes.
    package init() { self.init(ipv4: "/proc/net/route", ipv6: "/proc/net/ipv6_route") }

    /// Reads lists of routes from files.
    ///
    /// Source: fib_route_seq_show() and rt6_route_seq_show() of Linux.
    init(ipv4: String, ipv6: String) {
        Self.eachLine(of: ipv4) { line in
            guard line.count > 6, line[1] == "00000000" else { return }
            routes.insert(Route(interface: String(line[0]), gateway: String(line[2]), metric: String(line[6])))
        }
        let zeros = String(repeating: "0", count: 32)
        Self.eachLine(of: ipv6) { line in
            guard line.count > 9, line[0] == zeros, line[1] == "00", line[9] != "lo" else { return }
            routes.insert(Route(interface: String(line[9]), gateway: String(line[4]), metric: String(line[5])))
        }
    }

    /// The names of the interfaces with a default route, sorted.
    package var interfaces: [String] { Set(routes.map(\.interface)).sorted() }

    /// Calls `body` with the words of each line. Foundation would read only the first page of a file in `/proc`.
    private static func eachLine(of path: String, _ body: ([Substring]) -> Void) {
        guard let file = fopen(path, "re") else { return }
        let space = Array(" \t\n".utf8)
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer {
            free(line)
            fclose(file)
        }
        while getline(&line, &capacity, file) > 0, let line {
            body(String(cString: line).utf8.split(whereSeparator: space.contains).map { Substring($0) })
        }
    }
}
