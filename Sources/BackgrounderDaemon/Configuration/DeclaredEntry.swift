import SystemSupport
import Yams

/// An entry of a section with declarations, such as one fetch source. Its fields are read one by one, and their faults
/// collected.
struct DeclaredEntry {
    private struct Field {
        let value: Node
        let place: ConfigurationPlace
    }

    let name: String
    private let section: Declarations.Section
    /// The line of the name.
    private let place: ConfigurationPlace
    /// The folder that relative paths start from.
    private let directory: String
    private var fields: [String: Field] = [:]
    private(set) var faults: [ConfigurationFault] = []

    /// Creates the entry `key: value` of the file at `path`.
    init(_ key: Node, _ value: Node, of section: Declarations.Section, path: String, directory: String) {
        (self.section, self.directory) = (section, directory)
        name = YAMLDocument.name(of: key)
        place = .line(key.line, of: path)
        guard case .mapping(let mapping) = value else {
            let fields = section.fields.joined(separator: ", ")
            faults.append(
                ConfigurationFault(place: place, key: section.rawValue, problem: "\(fullName): use keys of \(fields)")
            )
            return
        }
        for (key, value) in mapping {
            let (field, place) = (YAMLDocument.name(of: key), ConfigurationPlace.line(key.line, of: path))
            if section.fields.contains(field) {
                fields[field] = Field(value: value, place: place)
            } else {
                faults.append(
                    ConfigurationFault(
                        place: place,
                        section: section.rawValue,
                        unknownKey: "\(fullName).\(field)",
                        among: section.fields
                    )
                )
            }
        }
    }

    private var fullName: String { "\(section.rawValue).\(name)" }

    /// Returns whether the file has the field, valid or not.
    func has(_ field: String) -> Bool { fields[field] != nil }

    /// Returns the line of a field, or that of the entry without it.
    func place(of field: String) -> ConfigurationPlace { fields[field]?.place ?? place }

    /// Records a fault of a field, or of the whole entry.
    mutating func fault(_ problem: String, _ field: String? = nil) {
        let name = field.map { "\(fullName).\($0)" } ?? fullName
        faults.append(
            ConfigurationFault(
                place: field.map(place) ?? place,
                key: section.rawValue,
                problem: "\(name): \(problem)"
            )
        )
    }

    /// Returns the value of a field with one text; `nil` if it is absent or has a fault.
    ///
    /// - Parameter explain: returns the fault of a text, if there is more to say than `allowed`.
    mutating func text<Value>(
        _ field: String,
        allowed: String,
        _ explain: (String) -> String? = { _ in nil },
        _ parse: (String) -> Value?
    ) -> Value? {
        guard let value = fields[field]?.value else { return nil }
        guard case .scalar(let scalar) = value else {
            fault("use \(allowed)", field)
            return nil
        }
        if let problem = explain(scalar.string) {
            fault(problem, field)
            return nil
        }
        let parsed = parse(scalar.string)
        if parsed == nil { fault("\(scalar.string.debugDescription) is not valid; use \(allowed)", field) }
        return parsed
    }

    /// Returns the absolute path in a field; `nil` if it is absent or has a fault.
    mutating func path(_ field: String) -> String? {
        let directory = directory
        return text(field, allowed: "a path") { text in
            text.isEmpty || text.utf8.contains(0) ? nil : RuntimePaths.absolute(text, from: directory)
        }
    }

    /// Returns the texts in a field with a list that is not empty; `nil` if it is absent or has a fault.
    mutating func texts(_ field: String, allowed: String) -> [String]? {
        guard let value = fields[field]?.value else { return nil }
        if case .sequence(let nodes) = value {
            let texts = nodes.compactMap { $0.scalar?.string }
            let isValid = texts.count == nodes.count && texts.first?.isEmpty == false
            if isValid, !texts.contains(where: { $0.utf8.contains(0) }) { return texts }
        }
        fault("use \(allowed)", field)
        return nil
    }

    /// Returns the names and texts in a field with a mapping; `nil` if it is absent or has a fault.
    mutating func pairs(_ field: String, allowed: String) -> [String: String]? {
        guard let value = fields[field]?.value else { return nil }
        if case .mapping(let mapping) = value {
            let pairs = mapping.compactMap { key, value in
                value.scalar.map { (YAMLDocument.name(of: key), $0.string) }
            }
            if pairs.count == mapping.count { return Dictionary(pairs) { $1 } }
        }
        fault("use \(allowed)", field)
        return nil
    }
}

extension Node {
    /// The line in the file, from 1.
    var line: Int { mark?.line ?? 1 }
}
