/// A variable for the commands that the service runs, as `tasks.environment` and `task begin --env` name it.
package enum EnvironmentVariable: Hashable, Sendable {
    /// `NAME`: the service's own value; a variable that the service does not have is left out.
    case inherited(name: String)
    /// `NAME=VALUE`.
    case assigned(name: String, value: String)

    /// Names with this prefix belong to the service: its settings, passwords among them, and the marks of its processes.
    private static let reservedPrefix = "BACKGROUNDER_"

    package static let allowedNames =
        "a letter or _, then letters, digits and _, and no name that begins with \(reservedPrefix)"

    /// - Returns: `nil` for an invalid name, and for a value with a NUL.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard Self.isName(parts[0]), !text.utf8.contains(0) else { return nil }
        self = parts.count == 2 ? .assigned(name: parts[0], value: parts[1]) : .inherited(name: parts[0])
    }

    /// Whether commands may be given a variable of this name.
    package static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !name.hasPrefix(reservedPrefix) else { return false }
        return isLetter(first) && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (0x61...0x7A).contains(byte | 0x20)
    }
}
