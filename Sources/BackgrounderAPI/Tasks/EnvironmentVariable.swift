/// A variable for the commands that the service runs, as `tasks.environment` and `task begin --env` name it.
package enum EnvironmentVariable: Hashable, Sendable {
    /// `NAME`: the service's own value; ignored if the service does not have the variable.
    case inherited(name: String)
    /// `NAME=VALUE`.
    case assigned(name: String, value: String)

    /// The prefix of names that belong to the service: its settings, including passwords, and the marks of its processes.
    private static let reservedPrefix = "BACKGROUNDER_"

    package static let allowedNames =
        "a letter or _, then letters, digits and _, not beginning with \(reservedPrefix)"

    /// Parses `NAME` or `NAME=VALUE`; returns `nil` for an invalid name and for a value with a NUL.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard Self.isName(parts[0]), !text.utf8.contains(0) else { return nil }
        self = parts.count == 2 ? .assigned(name: parts[0], value: parts[1]) : .inherited(name: parts[0])
    }

    /// Returns whether commands may get a variable with this name.
    package static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !name.hasPrefix(reservedPrefix) else { return false }
        return isLetter(first) && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (0x61...0x7A).contains(byte | 0x20)
    }
}
