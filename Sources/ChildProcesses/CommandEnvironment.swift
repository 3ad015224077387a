import FoundationEssentials

/// The part of the service's environment that its commands see.
///
/// An allow-list: the rest may contain passwords of the service and tokens of the user who started it.
enum CommandEnvironment {
    private static let names: Set = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
        // These lead `backgrounder` to the files and the socket of the service that runs the command.
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
    ]

    /// The allowed variables of this process.
    static var inherited: [String: String] {
        ProcessInfo.processInfo.environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }
}
