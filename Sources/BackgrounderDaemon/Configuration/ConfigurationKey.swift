import BackgrounderAPI

/// One key of the configuration: its name, what it takes, and what holds where nobody says anything.
struct ConfigurationKey<Value: Sendable>: Sendable {
    /// With a dot between the section and the key.
    let name: String
    /// What it takes, in words, for the message that refuses something else.
    let allowed: String
    let fallback: Value
    let isList: Bool
    /// Whether the value is a password: no message repeats it, and a file that holds it must be readable by its owner alone.
    let isSecret: Bool
    /// The value, made absolute from a directory where it holds a path; `nil` where the text is none.
    let parse: @Sendable (ConfigurationText, _ directory: String) -> Value?
    /// What is wrong with a text that is none, where the key can say more than what is allowed.
    let explain: (@Sendable (ConfigurationText) -> String?)?

    /// A key with one value.
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

    /// A key with a list, where each element is parsed alone.
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
        explain = nil
        self.parse = { text, directory in Self.elements(of: text, directory, parse) }
    }

    /// A key with a list that may be absent, which is not the same as an empty one.
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
        explain = nil
        self.parse = { text, directory in Self.elements(of: text, directory, parse).map { .some($0) } }
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

/// A value as it was written.
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

/// A key without its type: enough to check a text.
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
