import FoundationEssentials
import Glibc
import Places
import SystemSupport
import Yams

/// The entries of one layer of the configuration (file, environment or options), each with its place, and all faults of the layer.
struct ConfigurationLayer: Sendable {
    struct Entry: Sendable {
        let text: ConfigurationText
        let place: ConfigurationPlace
    }

    private(set) var entries: [String: Entry] = [:]
    private(set) var declarations = Declarations()
    private(set) var placeRules = PlaceRuleList(.null)
    /// The lines of declared fields, such as `fetch.sources.news.url`.
    private(set) var declaredPlaces: [String: ConfigurationPlace] = [:]
    private(set) var faults: [ConfigurationFault] = []
    /// The folder that relative paths start from.
    let directory: String
}

extension ConfigurationLayer {
    private static let sizeLimit = 1 << 20

    /// Reads and checks the file at `path`.
    ///
    /// Faults are a file that cannot be read, is over 1 MiB, is not UTF-8 or not YAML, each unknown or duplicate key, each invalid
    /// value, and a password in a file that is readable by other users.
    init(file path: String) {
        directory = RuntimePaths.absolute(path + "/..")
        let (text, mode): (String, mode_t)
        do throws(ConfigurationFault) {
            (text, mode) = try Self.read(path)
        } catch {
            faults.append(error)
            return
        }
        let document = YAMLDocument(text, path: path)
        faults = document.faults
        switch document.root {
        case .mapping(let sections)?:
            for (key, value) in sections { add(YAMLDocument.name(of: key), key, value, path: path) }
            checkSecrets(of: path, mode)
        case let root? where !root.isNull:
            let place = ConfigurationPlace.line(root.line, of: path)
            faults.append(ConfigurationFault(place: place, problem: "expected a mapping of keys to values"))
        default: break
        }
    }

    /// Reads the variables of `environment` that set a key.
    init(environment: [String: String], directory: String) {
        self.directory = directory
        for key in Keys.all {
            guard let value = environment[key.environmentName] else { continue }
            let text: ConfigurationText =
                key.isList
                ? .list(value.split(separator: ",").map { String($0).trimmed }) : .scalar(value)
            set(key, to: text, at: .variable(key.environmentName))
        }
    }

    /// Reads the command-line options that set a key.
    init(options: [String: (option: String, value: String?)], directory: String) {
        self.directory = directory
        for key in Keys.all {
            guard let given = options[key.name], let value = given.value else { continue }
            set(key, to: .scalar(value), at: .option(given.option))
        }
    }

    private mutating func add(_ name: String, _ key: Node, _ value: Node, path: String) {
        let place = ConfigurationPlace.line(key.line, of: path)
        if let known = Keys.all.first(where: { $0.name == name }) {
            switch value {
            // An empty value and YAML's null are passed as text; only `driver` accepts `null`.
            case .scalar(let scalar):
                let isNull = value.null != nil && scalar.style == .plain
                set(known, to: .scalar(isNull && !scalar.string.isEmpty ? "null" : scalar.string), at: place)
            case .sequence(let nodes):
                var texts: [String] = []
                for node in nodes {
                    guard case .scalar(let scalar) = node else {
                        let place = ConfigurationPlace.line(node.line, of: path)
                        faults.append(ConfigurationFault(place: place, key: name, allowed: known.allowed))
                        return
                    }
                    texts.append(scalar.string)
                }
                set(known, to: .list(texts), at: place)
            case .mapping, .alias:
                faults.append(ConfigurationFault(place: place, key: name, allowed: known.allowed))
            }
        } else if let section = Declarations.Section(rawValue: name) {
            declare(section, value, at: place, path: path)
        } else if name == Keys.placeRules {
            placeRules = PlaceRuleList(RuleValue(value))
            faults += placeRules.faults.map { fault in
                let place = fault.place(in: value, of: path, otherwise: place)
                return ConfigurationFault(place: place, key: name, problem: fault.description)
            }
        } else if Keys.names.contains(where: { $0.hasPrefix(name + ".") }) {
            switch value {
            case .mapping(let mapping):
                for (inner, value) in mapping {
                    add("\(name).\(YAMLDocument.name(of: inner))", inner, value, path: path)
                }
            case _ where value.isNull: break
            default:
                faults.append(ConfigurationFault(place: place, key: name, allowed: "a section with keys of its own"))
            }
        } else {
            faults.append(ConfigurationFault(place: place, unknownKey: name))
        }
    }

    /// Reads the entries of a section with declarations.
    private mutating func declare(
        _ section: Declarations.Section,
        _ value: Node,
        at place: ConfigurationPlace,
        path: String
    ) {
        guard case .mapping(let mapping) = value else {
            guard !value.isNull else { return }
            let allowed = "names, each with keys of its own: \(section.fields.joined(separator: ", "))"
            faults.append(ConfigurationFault(place: place, key: section.rawValue, allowed: allowed))
            return
        }
        for (key, value) in mapping {
            var entry = DeclaredEntry(key, value, of: section, path: path, directory: directory)
            if case .mapping = value {
                switch section {
                case .sources: if let source = entry.fetchSource() { declarations.sources.append(source) }
                case .pushes: if let push = entry.push() { declarations.pushes.append(push) }
                case .hooks: if let hook = entry.hook() { declarations.hooks.append(hook) }
                case .publishers: if let entry = entry.publisher() { declarations.publishers.append(entry) }
                case .sessions: if let session = entry.session() { declarations.sessions.append(session) }
                }
            }
            faults += entry.faults
            for field in section.fields {
                declaredPlaces["\(section.rawValue).\(entry.name).\(field)"] = entry.place(of: field)
            }
        }
    }

    /// Sets `key` and checks its value.
    private mutating func set(_ key: AnyConfigurationKey, to text: ConfigurationText, at place: ConfigurationPlace) {
        entries[key.name] = Entry(text: text, place: place)
        guard !key.accepts(text, directory) else { return }
        if let problem = key.explain?(text) {
            faults.append(ConfigurationFault(place: place, key: key.name, problem: "\(key.name): \(problem)"))
        } else {
            let value = key.isSecret ? nil : text
            faults.append(ConfigurationFault(place: place, key: key.name, value: value, allowed: key.allowed))
        }
    }

    private mutating func checkSecrets(of path: String, _ mode: mode_t) {
        guard mode & (S_IRGRP | S_IROTH) != 0,
            let key = Keys.all.first(where: { $0.isSecret && entries[$0.name] != nil })
        else { return }
        let digits = String(mode & 0o777, radix: 8)
        faults.append(
            ConfigurationFault(
                place: entries[key.name]?.place ?? .file(path),
                key: key.name,
                problem:
                    "\(key.name): other users can read this password because the file has mode 0\(digits); run `chmod 600 \(path)`"
            )
        )
    }

    /// Returns the text and the mode of the file at `path`.
    private static func read(_ path: String) throws(ConfigurationFault) -> (String, mode_t) {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ConfigurationFault(
                place: .file(path),
                problem: "cannot open the file: \(systemMessage(errno)); check the path and the file's mode"
            )
        }
        defer { close(descriptor) }
        var attributes = stat()
        guard fstat(descriptor, &attributes) == 0, attributes.st_mode & S_IFMT == S_IFREG else {
            throw ConfigurationFault(place: .file(path), problem: "not a regular file; name a YAML file")
        }
        var data = [UInt8](repeating: 0, count: sizeLimit + 1)
        var count = 0
        while count < data.count {
            let more = data.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            }
            guard more >= 0 else {
                throw ConfigurationFault(place: .file(path), problem: "cannot read the file: \(systemMessage(errno))")
            }
            if more == 0 { break }
            count += more
        }
        guard count <= sizeLimit else {
            throw ConfigurationFault(place: .file(path), problem: "the file is larger than 1 MiB")
        }
        data.removeLast(data.count - count)
        guard let text = String(validating: data, as: UTF8.self) else {
            let valid = String(decoding: data, as: UTF8.self).prefix { $0 != "\u{FFFD}" }
            let line = valid.count { $0 == "\n" || $0 == "\r\n" } + 1
            throw ConfigurationFault(
                place: .line(line, of: path),
                problem: "not valid UTF-8; save the file as UTF-8"
            )
        }
        return (text, attributes.st_mode)
    }
}

extension Node {
    /// Whether this is empty, or YAML's null.
    /// Whether it is empty or YAML's null.
    var isNull: Bool {
        guard case .scalar(let scalar) = self else { return false }
        return scalar.string.isEmpty || null != nil
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
