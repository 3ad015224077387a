import FoundationEssentials
import Glibc

/// Where the files of one service lie.
///
/// The first of these that applies: one directory for all (`--home` or `BACKGROUNDER_HOME`), the directories that systemd
/// made, those of the system for root, the XDG base directories for a user.
package struct RuntimePaths: Hashable, Sendable {
    package var configuration: String
    /// A directory.
    package var state: String
    /// A directory.
    package var run: String
    package var log: String
    /// The one directory for all, when that was asked for.
    package var home: String?

    package var database: String { state + "/backgrounder.sqlite" }
    package var controlSocket: String { run + "/control.sock" }
    /// Where MPD's clients connect.
    package var mpdSocket: String { run + "/mpd.sock" }
    package var sockets: [String] { [controlSocket, mpdSocket] }
    package var lock: String { run + "/backgrounder.lock" }
    /// The ``InstanceRecord`` of the process that has the lock, or had it last.
    package var instance: String { run + "/backgrounder.instance" }

    /// - Parameters:
    ///   - home: as given on the command line.
    ///   - environment: names and values.
    ///   - userID: the effective one.
    package init(home: String?, environment: [String: String], userID: UInt32) {
        func variable(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let home = home ?? variable("BACKGROUNDER_HOME") {
            let home = Self.absolute(home)
            self.init(configuration: home, state: home + "/state", run: home + "/run", log: home, home: home)
        } else if let state = variable("STATE_DIRECTORY"), let run = variable("RUNTIME_DIRECTORY") {
            let first = { (list: String) in String(list.prefix { $0 != ":" }) }
            let configuration = variable("CONFIGURATION_DIRECTORY").map(first) ?? "/etc/backgrounder"
            self.init(configuration: configuration, state: first(state), run: first(run), log: first(state))
        } else if userID == 0 {
            let state = "/var/lib/backgrounder"
            self.init(configuration: "/etc/backgrounder", state: state, run: "/run/backgrounder", log: state)
        } else {
            let home = variable("HOME") ?? "/"
            let state = (variable("XDG_STATE_HOME") ?? home + "/.local/state") + "/backgrounder"
            self.init(
                configuration: (variable("XDG_CONFIG_HOME") ?? home + "/.config") + "/backgrounder",
                state: state,
                run: variable("XDG_RUNTIME_DIR").map { $0 + "/backgrounder" } ?? state + "/run",
                log: state
            )
        }
    }

    private init(configuration: String, state: String, run: String, log: String, home: String? = nil) {
        self.configuration = configuration + "/config.yaml"
        self.state = state
        self.run = run
        self.log = log + "/backgrounder.log"
        self.home = home
    }

    /// Why a `--home` without a path is refused: it would be the current directory.
    package static let emptyHome = "\"\" is no directory for --home: give a path, or leave the option out"

    /// Those of this process.
    package static func current(home: String?) -> RuntimePaths {
        RuntimePaths(home: home, environment: ProcessInfo.processInfo.environment, userID: geteuid())
    }

    /// `path` from `directory` (by default the current one), without `.`, `..` and doubled slashes; links are left alone.
    package static func absolute(_ path: String, from directory: String? = nil) -> String {
        if path.isPlainAbsolutePath { return path }
        let directory = directory ?? FileManager.default.currentDirectoryPath
        var parts: [String] = []
        for part in pathParts((path.isAbsolutePath ? path : directory + "/" + path).utf8) {
            switch part {
            case ".": continue
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}

extension String {
    /// Whether it begins with a slash and has nothing that ``RuntimePaths/absolute(_:from:)`` would take away.
    fileprivate var isPlainAbsolutePath: Bool {
        guard utf8.first == UInt8(ascii: "/"), utf8.count > 1 else { return false }
        var length = 0
        var isDots = true
        for byte in utf8.dropFirst() {
            if byte == UInt8(ascii: "/") {
                if isDots, length < 3 { return false }
                (length, isDots) = (0, true)
            } else {
                length += 1
                isDots = isDots && byte == UInt8(ascii: ".")
            }
        }
        return !(isDots && length < 3)
    }
}
