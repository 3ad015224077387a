import Yams

/// The YAML document in a file, and its faults of syntax.
///
/// Yams parses nothing of a file with duplicate keys. So that the other faults are found, too, this marks each repetition and parses
/// the file again.
struct YAMLDocument {
    private static let repetitionMark: Character = "\u{F8FF}"
    /// Tuned: bounds the time; a file with more repetitions shows the other faults only after these are removed.
    private static let mostRepetitions = 20

    /// `nil` if the document is empty or cannot be parsed.
    let root: Node?
    /// Invalid YAML, and each duplicate key.
    let faults: [ConfigurationFault]

    /// Parses `text`, the content of the file at `path`.
    init(_ text: String, path: String) {
        var (text, faults): (String, [ConfigurationFault]) = (text, [])
        var root: Node?
        for count in 1...Self.mostRepetitions {
            do {
                root = try Yams.compose(yaml: text)
                break
            } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
                let key = keys.first ?? ""
                let repetition = Self.repetition(of: key, in: text, after: context.mark)
                let line = repetition.map { Self.line(of: $0, in: text) } ?? context.mark.line
                let place = ConfigurationPlace.line(line, of: path)
                faults.append(ConfigurationFault(place: place, key: key, problem: "duplicate key \(key); remove one"))
                guard let repetition else { break }
                text.insert(contentsOf: String(repeating: Self.repetitionMark, count: count), at: repetition)
            } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
                YamlError.composer(_, let problem, let mark, _)
            {
                let place = ConfigurationPlace.line(mark.line, of: path)
                faults.append(ConfigurationFault(place: place, problem: "not valid YAML: \(problem)"))
                break
            } catch {
                faults.append(ConfigurationFault(place: .file(path), problem: "not valid YAML: \(error)"))
                break
            }
        }
        self.root = root
        self.faults = faults
    }

    /// Returns the text of `key` in the file.
    static func name(of key: Node) -> String {
        guard case .scalar(let scalar) = key else { return "?" }
        return String(scalar.string.prefix { $0 != repetitionMark })
    }

    /// Returns the end of the next key `name` with the indentation of the one at `mark`; `nil` if the keys are in one line.
    private static func repetition(of name: String, in text: String, after mark: Mark) -> String.Index? {
        let indentation = String(repeating: " ", count: max(0, mark.column - 1))
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).dropFirst(mark.line)
        for line in lines where line.hasPrefix(indentation) {
            let key = line.dropFirst(indentation.count)
            for quote in ["", "\"", "'"] where key.hasPrefix(quote + name + quote) {
                let end = text.index(key.startIndex, offsetBy: quote.count + name.count)
                if text[end...].dropFirst(quote.count).drop(while: { $0 == " " }).first == ":" { return end }
            }
        }
        return nil
    }

    private static func line(of index: String.Index, in text: String) -> Int {
        text[..<index].count(where: \.isNewline) + 1
    }
}
