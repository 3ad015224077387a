import SystemSupport

/// The fields of a mapping, which are read one by one, while their faults are collected.
struct RuleFields {
    struct Fault {
        var field: String?
        var problem: String
        var remedy: String
    }

    private(set) var faults: [Fault] = []
    private var values: [String: RuleValue] = [:]
    /// The path of the mapping within the rule with a dot, or nothing.
    private let prefix: String

    /// Creates the fields of `value`. If it is not a mapping, that is the only fault.
    ///
    /// - Parameters:
    ///   - field: the path of the mapping within the rule; `nil` for the rule itself.
    ///   - known: the keys that it may have.
    init(_ value: RuleValue, field: String? = nil, known: [String]) {
        prefix = field.map { $0 + "." } ?? ""
        guard case .map(let entries) = value else {
            faults = [
                Fault(field: field, problem: "not a mapping", remedy: "use the keys \(known.joined(separator: ", "))")
            ]
            return
        }
        var repeated: Set<String> = []
        for (key, value) in entries {
            guard known.contains(key) else {
                unknown(key, among: known)
                continue
            }
            if values.updateValue(value, forKey: key) != nil, repeated.insert(key).inserted {
                fault(key, "duplicate key", "remove one")
            }
        }
    }

    private mutating func unknown(_ key: String, among known: [String]) {
        let meant = Spelling.closest(to: key, among: known)
        let remedy = meant.map { "did you mean \($0)?" } ?? "known keys: \(known.joined(separator: ", "))"
        faults.append(
            Fault(
                field: prefix.isEmpty ? nil : String(prefix.dropLast()),
                problem: "unknown key \(key.quotedInMessage)",
                remedy: remedy
            )
        )
    }

    /// Returns whether the mapping has the field, valid or not.
    func has(_ field: String) -> Bool { values[field] != nil }

    subscript(_ field: String) -> RuleValue? { values[field] }

    /// Records a fault of a field, or of the whole mapping.
    mutating func fault(_ field: String?, _ problem: String, _ remedy: String) {
        let path = field.map { prefix + $0 } ?? (prefix.isEmpty ? nil : String(prefix.dropLast()))
        faults.append(Fault(field: path, problem: problem, remedy: remedy))
    }

    /// Adds the faults of a mapping within this one.
    mutating func add(_ inner: RuleFields) { faults += inner.faults }

    /// Returns the value of a field with one text; `nil` if it is absent or has a fault.
    mutating func text<Value>(_ field: String, allowed: String, _ parse: (String) -> Value?) -> Value? {
        guard let value = values[field] else { return nil }
        guard case .text(let text) = value else {
            fault(field, value.kindProblem, "use \(allowed)")
            return nil
        }
        let parsed = parse(text)
        if parsed == nil { fault(field, "\(text.quotedInMessage) is not valid", "use \(allowed)") }
        return parsed
    }

    /// Returns the word in a field; `nil` if it is absent or has a fault.
    mutating func word<Word: CaseIterable & RawRepresentable>(_ field: String, _ type: Word.Type) -> Word?
    where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue)
        let allowed = "\(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
        guard case .text(let text) = values[field], Word(rawValue: text) == nil,
            let meant = Spelling.closest(to: text, among: words)
        else { return self.text(field, allowed: allowed) { Word(rawValue: $0) } }
        fault(field, "\(text.quotedInMessage) is not valid", "did you mean \(meant)?")
        return nil
    }

    /// Returns the texts in a field with one text or a list; `nil` if it is absent or has a fault.
    mutating func texts(_ field: String, allowed: String) -> [String]? {
        guard let value = values[field] else { return nil }
        var texts: [String] = []
        switch value {
        case .text(let text): texts = [text]
        case .list(let values):
            texts = values.compactMap { value in if case .text(let text) = value { text } else { nil } }
            guard texts.count == values.count else {
                fault(field, "not a list of texts", "use \(allowed)")
                return nil
            }
        case .null, .map:
            fault(field, value.kindProblem, "use \(allowed)")
            return nil
        }
        guard !texts.isEmpty, !texts.contains("") else {
            fault(field, texts.isEmpty ? "the list is empty" : "a name is empty", "use \(allowed)")
            return nil
        }
        return texts
    }

    /// Returns the duration in a field; `nil` if it is absent or has a fault.
    mutating func duration(_ field: String, in range: ClosedRange<Duration>) -> Duration? {
        let allowed = "a duration from \(Durations.text(range.lowerBound)) to \(Durations.text(range.upperBound))"
        return text(field, allowed: allowed) { text in
            Durations.duration(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns the length in a field in metres; `nil` if it is absent or has a fault.
    mutating func length(_ field: String, in range: ClosedRange<Double>) -> Double? {
        let allowed = "a length from \(Int(range.lowerBound))m to \(Int(range.upperBound / 1000))km"
        return text(field, allowed: allowed) { text in
            let (digits, factor) =
                text.hasSuffix("km")
                ? (text.dropLast(2), 1000.0) : (text.hasSuffix("m") ? text.dropLast(1) : Substring(text), 1.0)
            return Self.number(digits).flatMap { range.contains($0 * factor) ? $0 * factor : nil }
        }
    }

    /// Returns the share in a field, such as `20%` or `0.2`, from 0 to 1; `nil` if it is absent or has a fault.
    mutating func share(_ field: String) -> Double? {
        text(field, allowed: "a share of the volume from 0% to 100%") { text in
            let number = text.hasSuffix("%") ? Self.number(text.dropLast()).map { $0 / 100 } : Self.number(text[...])
            return number.flatMap { (0...1).contains($0) ? $0 : nil }
        }
    }

    /// Returns the template in a field; `nil` if it is absent or has a fault.
    mutating func template(_ field: String, allowed: String, longest: Int) -> PlaceTemplate? {
        let written = text(field, allowed: "\(allowed), of at most \(longest) bytes") { text in
            text.contains { $0 != " " } && text.utf8.count <= longest && !text.utf8.contains(0) ? text : nil
        }
        guard let written else { return nil }
        do throws(PlaceTemplate.SyntaxError) {
            return try PlaceTemplate(written)
        } catch {
            let (problem, remedy) =
                switch error {
                case .unclosed: ("a { has no }", "close the placeholder, or write {{ for a brace")
                case .unopened: ("a } has no {", "open the placeholder, or write }} for a brace")
                case .unnamed: ("a placeholder {} has no name", "use one such as {name}, or write {{}} for braces")
                }
            fault(field, problem, remedy)
            return nil
        }
    }

    /// Returns a number with digits and at most one dot: no sign, exponent or space.
    private static func number(_ text: Substring) -> Double? {
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isPlain ? Double(text) : nil
    }
}

extension RuleValue {
    /// The problem of a value that should be one text.
    fileprivate var kindProblem: String {
        switch self {
        case .null: "no value"
        case .text: "not valid"
        case .list: "a list is not allowed"
        case .map: "a mapping is not allowed"
        }
    }
}
