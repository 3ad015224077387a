import FoundationEssentials
import Glibc
import SystemSupport
import Yams

/// The entries of one layer of the configuration (file, environment or options), each with its place.
struct ConfigurationLayer: Sendable {
    struct Entry: Sendable {
        var text: ConfigurationText
        /// `config.yaml:12`, a variable or an option.
        var place: String
    }

    var entries: [String: Entry] = [:]
    /// The folder that relative paths start from.
    var directory: String
}

extension ConfigurationLayer {
    private static let sizeLimit = 1 << 20

    /// Reads and checks the file at `path`.
    ///
    /// - Throws: ``ConfigurationError`` with the line, if the file cannot be read, is over 1 MiB, is not UTF-8 or not YAML, has an
    ///   unknown or duplicate key or an invalid value, or contains a password and is readable by other users.
    init(file path: String) throws(ConfigurationError) {
        directory = RuntimePaths.absolute(path + "/..")
        let (text, mode) = try Self.read(path)
        guard let root = try Self.compose(text, path: path) else { return }
        guard case .mapping(let sections) = root else {
            throw ConfigurationError(place: "\(path):\(root.line)", problem: "expected a mapping of keys to values")
        }
        for (key, value) in sections {
            try add(key.name, key, value, path: path)
        }
        try check()
        try checkSecrets(of: path, mode)
    }

    /// Reads the variables of `environment` that set a key.
    init(environment: [String: String], directory: String) throws(ConfigurationError) {
        self.directory = directory
        for key in Keys.all {
            guard let value = environment[key.environmentName] else { continue }
            let text: ConfigurationText =
                key.isList
                ? .list(value.split(separator: ",").map { String($0).trimmed }) : .scalar(value)
            entries[key.name] = Entry(text: text, place: key.environmentName)
        }
        try check()
    }

    /// Reads the command-line options that set a key.
    init(options: [String: (option: String, value: String?)], directory: String) throws(ConfigurationError) {
        self.directory = directory
        for (key, given) in options {
            guard let value = given.value else { continue }
            entries[key] = Entry(text: .scalar(value), place: given.option)
        }
        do {
            try check()
        } catch {
            var error = error
            error.isWrongArgument = true
            throw error
        }
    }

    private mutating func add(_ name: String, _ key: Node, _ value: Node, path: String) throws(ConfigurationError) {
        let place = "\(path):\(key.line)"
        if let known = Keys.all.first(where: { $0.name == name }) {
            switch value {
            // An empty value and YAML's null are passed as text; only `driver` accepts `null`.
            case .scalar(let scalar):
                let isNull = value.null != nil && scalar.style == .plain
                entries[name] = Entry(
                    text: .scalar(isNull && !scalar.string.isEmpty ? "null" : scalar.string),
                    place: place
                )
            case .sequence(let nodes):
                var texts: [String] = []
                for node in nodes {
                    guard case .scalar(let scalar) = node else {
                        throw ConfigurationError(place: "\(path):\(node.line)", key: name, allowed: known.allowed)
                    }
                    texts.append(scalar.string)
                }
                entries[name] = Entry(text: .list(texts), place: place)
            case .mapping, .alias:
                throw ConfigurationError(place: place, key: name, allowed: known.allowed)
            }
        } else if Keys.all.contains(where: { $0.name.hasPrefix(name + ".") }) {
            switch value {
            case .mapping(let mapping):
                for (inner, value) in mapping { try add("\(name).\(inner.name)", inner, value, path: path) }
            case .scalar(let scalar) where scalar.string.isEmpty || value.null != nil:
                break
            default:
                throw ConfigurationError(place: place, key: name, allowed: "a section with keys of its own")
            }
        } else {
            throw ConfigurationError(place: place, unknownKey: name)
        }
    }

    private func check() throws(ConfigurationError) {
        for key in Keys.all {
            guard let entry = entries[key.name], !key.accepts(entry.text, directory) else { continue }
            if let problem = key.explain?(entry.text) {
                throw ConfigurationError(place: entry.place, problem: "\(key.name): \(problem)")
            }
            let value = key.isSecret ? nil : entry.text
            throw ConfigurationError(place: entry.place, key: key.name, value: value, allowed: key.allowed)
        }
    }

    private func checkSecrets(of path: String, _ mode: mode_t) throws(ConfigurationError) {
        guard mode & (S_IRGRP | S_IROTH) != 0,
            let key = Keys.all.first(where: { $0.isSecret && entries[$0.name] != nil })
        else { return }
        let digits = String(mode & 0o777, radix: 8)
        throw ConfigurationError(
            place: entries[key.name]?.place ?? path,
            problem:
                "\(key.name): other users can read this password because the file has mode 0\(digits); run `chmod 600 \(path)`"
        )
    }

    /// Returns the text and the mode of the file at `path`.
    private static func read(_ path: String) throws(ConfigurationError) -> (String, mode_t) {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ConfigurationError(
                place: path,
                problem: "cannot open the file: \(systemMessage(errno)); check the path and the file's mode"
            )
        }
        defer { close(descriptor) }
        var attributes = stat()
        guard fstat(descriptor, &attributes) == 0, attributes.st_mode & S_IFMT == S_IFREG else {
            throw ConfigurationError(place: path, problem: "not a regular file; name a YAML file")
        }
        var data = [UInt8](repeating: 0, count: sizeLimit + 1)
        var count = 0
        while count < data.count {
            let more = data.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            guard more >= 0 else {
                throw ConfigurationError(place: path, problem: "cannot read the file: \(systemMessage(errno))")
            }
            if more == 0 { break }
            count += more
        }
        guard count <= sizeLimit else {
            throw ConfigurationError(place: path, problem: "the file is larger than 1 MiB")
        }
        data.removeLast(data.count - count)
        guard let text = String(validating: data, as: UTF8.self) else {
            let valid = String(decoding: data, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
            let line = valid.count { $0 == "\n" || $0 == "\r\n" } + 1
            throw ConfigurationError(place: "\(path):\(line)", problem: "not valid UTF-8; save the file as UTF-8")
        }
        return (text, attributes.st_mode)
    }

    /// Returns the line that repeats one of `keys`; Yams reports only where the mapping begins.
    private static func secondLine(of keys: [String], in text: String, from first: Int) -> Int {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().dropFirst(
            first - 1
        )
        let repeats = lines.filter { _, line in
            let word = line.drop { $0 == " " }
            return keys.contains { word.hasPrefix($0 + ":") || word.hasPrefix("\"\($0)\":") }
        }
        return repeats.dropFirst().first.map { $0.offset + 1 } ?? first
    }

    private static func compose(_ text: String, path: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            throw ConfigurationError(place: "\(path):\(mark.line)", problem: "not valid YAML: \(problem)")
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            let line = secondLine(of: keys, in: text, from: context.mark.line)
            throw ConfigurationError(
                place: "\(path):\(line)",
                problem: "duplicate key \(keys.joined(separator: ", ")); remove one"
            )
        } catch {
            throw ConfigurationError(place: path, problem: "not valid YAML: \(error)")
        }
    }
}

/// A fault of the configuration on one line: the place, the key, and what is allowed.
struct ConfigurationError: Error, CustomStringConvertible {
    let description: String
    /// Whether the fault is the value of an option, which has an exit code of its own.
    var isWrongArgument = false

    init(place: String, problem: String) {
        description = "\(place): \(problem)"
    }

    init(place: String, key: String, value: ConfigurationText? = nil, allowed: String) {
        let value = value.map { " \($0.description.debugDescription) is not valid;" } ?? ""
        description = "\(place): \(key):\(value) use \(allowed)"
    }

    init(place: String, unknownKey name: String) {
        let section = name.split(separator: ".").dropLast().first.map { $0 + "." } ?? ""
        let siblings = Keys.all.map(\.name).filter { section.isEmpty || $0.hasPrefix(section) }
        let known = Set(siblings.map { section.isEmpty ? String($0.prefix { $0 != "." }) : $0 }).sorted()
        description = "\(place): unknown key \(name); known keys: \(known.joined(separator: ", "))"
    }
}

extension Node {
    fileprivate var line: Int { mark?.line ?? 1 }

    /// The text of a key.
    fileprivate var name: String {
        if case .scalar(let scalar) = self { scalar.string } else { "?" }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
