import FoundationEssentials
import Glibc

/// The paths of the files of one service. See docs/files-and-permissions.md.
///
/// The first that applies: one folder for everything (`--home` or `BACKGROUNDER_HOME`), the folders that systemd created, the system's
/// folders for root, the XDG base folders for a user.
package struct RuntimePaths: Hashable, Sendable {
    package var configuration: String
    /// A folder.
    package var state: String
    /// A folder.
    package var run: String
    package var log: String
    /// The folder for everything; `nil` without `--home` and `BACKGROUNDER_HOME`.
    package var home: String?
    /// Whether they are in the user's own folders because nothing names others.
    private var isUsers = false

    package var database: String { state + "/backgrounder.sqlite" }
    package var controlSocket: String { run + "/control.sock" }
    /// The socket for MPD clients.
    package var mpdSocket: String { run + "/mpd.sock" }
    package var sockets: [String] { [controlSocket, mpdSocket] }
    package var lock: String { run + "/backgrounder.lock" }
    /// The ``InstanceRecord`` of the process that holds the lock, or held it last.
    package var instance: String { run + "/backgrounder.instance" }

    /// Determines the paths.
    ///
    /// - Parameters:
    ///   - home: the value of `--home`; `nil` without the option.
    ///   - environment: the variables of the process.
    ///   - userID: the effective user id.
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
            isUsers = true
        }
    }

    private init(configuration: String, state: String, run: String, log: String, home: String? = nil) {
        self.configuration = configuration + "/config.yaml"
        self.state = state
        self.run = run
        self.log = log + "/backgrounder.log"
        self.home = home
    }

    /// The error for an empty `--home`, which would be the current directory.
    package static let emptyHome = "the path of --home is empty; name a folder, or omit the option"

    /// Returns the paths for this process.
    package static func current(home: String?) -> RuntimePaths {
        RuntimePaths(home: home, environment: ProcessInfo.processInfo.environment, userID: geteuid())
    }

    /// The paths of the system's service, which root and systemd run.
    package static let system = RuntimePaths(home: nil, environment: [:], userID: 0)

    /// Returns the paths of the service that a command of this process addresses.
    package static func addressed(home: String?) -> RuntimePaths { current(home: home).orAccessible(system) }

    /// Returns `system` if nothing names a folder, the user's own service has no socket, and the user may use that of `system`.
    package func orAccessible(_ system: RuntimePaths) -> RuntimePaths {
        guard isUsers, access(controlSocket, F_OK) != 0, access(system.controlSocket, W_OK) == 0 else { return self }
        return system
    }

    /// Returns whether nothing names a folder, and the user may not look into the run folder of `system`.
    package func isDenied(_ system: RuntimePaths) -> Bool {
        isUsers && access(system.run, X_OK) != 0 && errno == EACCES
    }

    /// Returns `path` relative to `directory` (default: the current one) as an absolute path without `.`, `..` and double slashes. Links
    /// are not resolved.
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
    /// Whether it is absolute and ``RuntimePaths/absolute(_:from:)`` would not change it.
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
