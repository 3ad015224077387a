import SystemSupport

/// A text with placeholders for the figures of an event and the properties of its place, such as `Next stop: {name}`.
///
/// `{name}`, `{source}`, `{sourceId}`, `{event}`, `{distance}` (whole metres to the boundary), `{eta}` (whole seconds)
/// and `{time}` (HH:MM in local time) come from the event and the place. Any other name is that of a property. `{{` and
/// `}}` are braces.
package struct PlaceTemplate: Hashable, Sendable, CustomStringConvertible {
    /// The template as it is written.
    package let description: String
    private let parts: [Part]

    private enum Part: Hashable {
        case literal(String)
        case placeholder(String)
    }

    /// The ways in which a template can be damaged.
    package enum SyntaxError: Error, Hashable {
        /// A `{` without a `}`.
        case unclosed
        /// A `}` without a `{`.
        case unopened
        /// `{}`.
        case unnamed
    }

    /// The use of the filled template.
    enum Use: Hashable {
        /// A file path. A value must not lead to another folder or to a hidden file.
        case path
        /// A text to be spoken. Control characters of a value become spaces.
        case speech
    }

    /// The reasons for which a template cannot be filled.
    enum FillError: Error, Hashable {
        case unknown(String)
        case unsafe(name: String, value: String)
        case tooLong
    }

    /// Bytes. Tuned: far more than a path or an announcement, so that large properties cannot fill the memory.
    static let longestResult = 65_536

    /// Parses a template.
    ///
    /// - Throws: ``SyntaxError`` if braces do not match.
    package init(_ text: String) throws(SyntaxError) {
        description = text
        var parts: [Part] = []
        var literal = String.UnicodeScalarView()
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                literal.append(scalar)
            case "{":
                guard let end = rest.firstIndex(where: { $0 == "{" || $0 == "}" }), rest[end] == "}" else {
                    throw .unclosed
                }
                let name = String(rest[..<end])
                guard !name.isEmpty else { throw .unnamed }
                rest = rest[rest.index(after: end)...]
                parts += [.literal(String(literal)), .placeholder(name)]
                literal = String.UnicodeScalarView()
            case "}": throw .unopened
            default: literal.append(scalar)
            }
        }
        self.parts = parts + [.literal(String(literal))]
    }

    /// Returns the text with values for the placeholders.
    func filled(_ use: Use, _ value: (String) -> String?) throws(FillError) -> String {
        var result = ""
        for part in parts {
            switch part {
            case .literal(let text): result += text
            case .placeholder(let name):
                guard let value = value(name) else { throw .unknown(name) }
                guard use == .speech || Self.isSafe(value) else { throw .unsafe(name: name, value: value) }
                result += use == .speech ? Self.spoken(value) : value
            }
            guard result.utf8.count <= Self.longestResult else { throw .tooLong }
        }
        return result
    }

    /// Returns whether a value can be part of a file's name.
    ///
    /// It must not be empty, contain slashes or control characters, or begin with a dot.
    private static func isSafe(_ value: String) -> Bool {
        guard let first = value.utf8.first, first != UInt8(ascii: ".") else { return false }
        return !value.utf8.contains(UInt8(ascii: "/")) && value == value.withoutControlCharacters
    }

    private static func spoken(_ value: String) -> String {
        value.withoutControlCharacters.replacing("\u{FFFD}", with: " ")
    }
}
