import SystemSupport

/// All faults of a configuration.
struct ConfigurationError: Error, CustomStringConvertible {
    /// Tuned: the most faults in one line; more are hard to read there.
    private static let mostInOneLine = 10

    /// Never empty: those of options, then of variables, then of the file by line.
    let faults: [ConfigurationFault]
    /// Whether the text of an option is invalid, which has an exit code of its own.
    let isWrongArgument: Bool

    /// Creates an error from at least one fault.
    init(_ faults: [ConfigurationFault], isWrongArgument: Bool) {
        precondition(!faults.isEmpty)
        self.faults = faults.sorted { $0.place < $1.place }
        self.isWrongArgument = isWrongArgument
    }

    /// The faults in one line; of many only the first ones.
    var description: String {
        let rest = faults.count - Self.mostInOneLine
        return faults.prefix(Self.mostInOneLine).map(\.description).joined(separator: "; ")
            + (rest > 0 ? "; and \(rest) more, which `backgrounderd --check` lists" : "")
    }
}

/// One fault of a configuration: its place, what is wrong, and what is allowed.
struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    let place: ConfigurationPlace
    /// The key with the fault; `nil` if it concerns the whole file.
    let key: String?
    private let problem: String

    /// The fault in one line.
    var description: String { "\(place): \(problem)" }

    init(place: ConfigurationPlace, key: String? = nil, problem: String) {
        self.place = place
        self.key = key
        self.problem = problem
    }

    /// Creates the fault of a value that is not allowed.
    ///
    /// - Parameter value: the value, unless it is secret.
    init(place: ConfigurationPlace, key: String, value: ConfigurationText? = nil, allowed: String) {
        let value = value.map { " \($0.description.debugDescription) is not valid;" } ?? ""
        self.init(place: place, key: key, problem: "\(key):\(value) use \(allowed)")
    }

    /// Creates the fault of a key that does not exist, with the name that was probably meant.
    init(place: ConfigurationPlace, unknownKey name: String) {
        let section = name.split(separator: ".").dropLast().first.map { $0 + "." } ?? ""
        let siblings = Keys.names.filter { section.isEmpty || $0.hasPrefix(section) }
        let known = Set(siblings.map { $0.dropFirst(section.count).prefix { $0 != "." } }.map(String.init)).sorted()
        let own = String(name.dropFirst(section.count))
        let hint: String
        if let meant = Spelling.closest(to: own, among: known) ?? Self.key(named: own) {
            hint = "did you mean \(meant)?"
        } else {
            hint = "known keys: \(known.map { section + $0 }.joined(separator: ", "))"
        }
        self.init(place: place, key: name, problem: "unknown key \(name); \(hint)")
    }

    /// Creates the fault of a key that does not exist in an entry of `section`.
    ///
    /// - Parameter fields: the keys of its entries.
    init(place: ConfigurationPlace, section: String, unknownKey name: String, among fields: [String]) {
        let own = name.split(separator: ".").last.map(String.init) ?? name
        let hint =
            Spelling.closest(to: own, among: fields).map { "did you mean \($0)?" }
            ?? "known keys: \(fields.joined(separator: ", "))"
        self.init(place: place, key: section, problem: "unknown key \(name); \(hint)")
    }

    /// Returns the key of another section with the name `name`.
    private static func key(named name: String) -> String? {
        Keys.all.map(\.name).first { $0.split(separator: ".").last.map { Spelling.isSame(String($0), name) } ?? false }
    }
}

/// Where a value of the configuration is set.
enum ConfigurationPlace: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// An option of `backgrounderd`.
    case option(String)
    /// An environment variable.
    case variable(String)
    case file(String)
    case line(Int, of: String)

    /// Such as `config.yaml:12`.
    var description: String {
        switch self {
        case .option(let name), .variable(let name), .file(let name): name
        case .line(let line, let file): "\(file):\(line)"
        }
    }
}
