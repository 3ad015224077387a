import SystemSupport

/// The environment variables whose names begin with `BACKGROUNDER_`.
enum EnvironmentNames {
    private static let prefix = "BACKGROUNDER_"
    /// The variables that set no key: the folder of the service, and those that it sets for its tasks and fetch commands, which may
    /// start another service.
    private static let others: Set<String> = [
        "BACKGROUNDER_HOME", "BACKGROUNDER_TASK", "BACKGROUNDER_FETCH", "BACKGROUNDER_FETCH_RUN",
    ]

    /// Returns a line for each variable of `environment` that has no meaning, with the name that was probably meant.
    static func unknown(in environment: [String: String]) -> [String] {
        let known = Keys.all.map(\.environmentName)
        let unknown = environment.keys.filter { $0.hasPrefix(prefix) && !others.contains($0) && !known.contains($0) }
        return unknown.sorted().map { name in
            let meant = Spelling.closest(
                to: String(name.dropFirst(prefix.count)),
                among: known.map { $0.dropFirst(prefix.count) }.map(String.init)
            )
            return "\(name): unknown variable; " + (meant.map { "did you mean \(prefix)\($0)?" } ?? "it is ignored")
        }
    }
}
