/// A key of the configuration: its name, the values that it accepts, and its default.
struct ConfigurationKey<Value: Sendable>: Sendable {
    /// Section and key, separated by a dot.
    let name: String
    /// The accepted values in words, for error messages.
    let allowed: String
    let fallback: Value
    let isList: Bool
    /// Whether the value is a password: no message repeats it, and a file that contains it must be readable only by its owner.
    let isSecret: Bool
    /// Returns the value of a text, or `nil` if it is invalid. A relative path is resolved against the directory.
    let parse: @Sendable (ConfigurationText, _ directory: String) -> Value?
    /// Returns a description of the fault of an invalid text, if the key has more to say than `allowed`.
    let explain: (@Sendable (ConfigurationText) -> String?)?

    /// Creates a key with one value.
    init(
        _ name: String,
        _ fallback: Value,
        allowed: String,
        isSecret: Bool = false,
        explain: (@Sendable (ConfigurationText) -> String?)? = nil,
        parse: @escaping @Sendable (_ text: String, _ directory: String) -> Value?
    ) {
        self.name = name
        self.allowed = allowed
        self.fallback = fallback
        isList = false
        self.isSecret = isSecret
        self.explain = explain
        self.parse = { text, directory in
            guard case .scalar(let text) = text else { return nil }
            return parse(text, directory)
        }
    }

    /// Creates a key with a list whose elements are parsed one by one.
    init<Element: Sendable>(
        list name: String,
        _ fallback: Value,
        allowed: String,
        isSecret: Bool = false,
        parse: @escaping @Sendable (_ text: String, _ directory: String) -> Element?
    ) where Value == [Element] {
        self.name = name
        self.allowed = "a list of " + allowed
        self.fallback = fallback
        isList = true
        self.isSecret = isSecret
        explain = { text in isSecret ? nil : Self.fault(of: text, allowed, parse) }
        self.parse = { text, directory in Self.elements(of: text, directory, parse) }
    }

    /// Creates a key with an optional list; absent differs from empty.
    init<Element: Sendable>(
        _ name: String,
        optionalList allowed: String,
        parse: @escaping @Sendable (_ text: String, _ directory: String) -> Element?
    ) where Value == [Element]? {
        self.name = name
        self.allowed = "a list of " + allowed
        fallback = nil
        isList = true
        isSecret = false
        explain = { text in Self.fault(of: text, allowed, parse) }
        self.parse = { text, directory in Self.elements(of: text, directory, parse).map { .some($0) } }
    }

    /// Names the first invalid element of a list; `nil` if the text is not a list.
    private static func fault<Element>(
        of text: ConfigurationText,
        _ allowed: String,
        _ parse: (String, String) -> Element?
    ) -> String? {
        guard case .list(let texts) = text, let invalid = texts.first(where: { parse($0, "/") == nil }) else {
            return nil
        }
        return "\(invalid.debugDescription) is not valid; use a list of \(allowed)"
    }

    private static func elements<Element>(
        of text: ConfigurationText,
        _ directory: String,
        _ parse: (String, String) -> Element?
    ) -> [Element]? {
        guard case .list(let texts) = text else { return nil }
        let values = texts.compactMap { parse($0, directory) }
        return values.count == texts.count ? values : nil
    }
}

/// A value as it is written in the file.
enum ConfigurationText: Hashable, Sendable, CustomStringConvertible {
    case scalar(String)
    case list([String])

    var description: String {
        switch self {
        case .scalar(let text): text
        case .list(let texts): "[" + texts.joined(separator: ", ") + "]"
        }
    }
}

/// A type-erased key, sufficient to check a text.
struct AnyConfigurationKey: Sendable {
    let name: String
    let allowed: String
    let isList: Bool
    let isSecret: Bool
    let accepts: @Sendable (ConfigurationText, String) -> Bool
    let explain: (@Sendable (ConfigurationText) -> String?)?

    init<Value>(_ key: ConfigurationKey<Value>) {
        name = key.name
        allowed = key.allowed
        isList = key.isList
        isSecret = key.isSecret
        accepts = { key.parse($0, $1) != nil }
        explain = key.explain
    }

    /// `location.desiredAccuracy` is `BACKGROUNDER_LOCATION_DESIRED_ACCURACY`.
    var environmentName: String {
        name.reduce(into: "BACKGROUNDER_") { result, character in
            if character == "." {
                result += "_"
            } else {
                if character.isUppercase { result += "_" }
                result += character.uppercased()
            }
        }
    }
}
