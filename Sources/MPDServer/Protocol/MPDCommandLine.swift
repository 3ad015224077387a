/// A parsed line of the protocol: `play "1"` is the command `play` with one argument.
///
/// Follows MPD's tokenizer (`util/Tokenizer.cxx`): arguments are separated by blanks or enclosed in double quotes, in
/// which a backslash escapes the next character.
struct MPDCommandLine: Hashable, Sendable {
    var name: String
    var arguments: [String]

    /// MPD's own limit (`COMMAND_ARGV_MAX`).
    private static let maximumArguments = 69

    /// Parses a line. Throws MPD's error for a malformed one.
    init(_ line: String) throws(MPDError) {
        // A NUL ends the line, as in MPD's C strings.
        var rest = Array(line.utf8.prefix { $0 != 0 })[...]
        while let last = rest.last, last <= 0x20 { rest.removeLast() }
        name = try Self.parseWord(&rest)
        arguments = []
        while !rest.isEmpty {
            guard arguments.count < Self.maximumArguments else {
                throw MPDError(.argument, "Too many arguments", namesCommand: false)
            }
            arguments.append(try Self.parseParameter(&rest))
        }
    }

    private static func parseWord(_ rest: inout ArraySlice<UInt8>) throws(MPDError) -> String {
        let word = rest.prefix { $0 > 0x20 }
        guard let first = word.first else { throw MPDError(.unknown, "No command given", namesCommand: false) }
        guard first.isLetter else { throw MPDError(.unknown, "Letter expected", namesCommand: false) }
        guard word.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) }) else {
            throw MPDError(.unknown, "Invalid word character", namesCommand: false)
        }
        rest.removeFirst(word.count)
        dropBlanks(&rest)
        return String(decoding: word, as: UTF8.self)
    }

    private static func parseParameter(_ rest: inout ArraySlice<UInt8>) throws(MPDError) -> String {
        guard rest.first == UInt8(ascii: "\"") else { return try parseUnquoted(&rest) }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""):
                guard rest.first.map({ $0 <= 0x20 }) ?? true else {
                    throw MPDError(.unknown, "Space expected after closing '\"'", namesCommand: false)
                }
                dropBlanks(&rest)
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                if let escaped = rest.popFirst() { value.append(escaped) }
            default: value.append(byte)
            }
        }
        throw MPDError(.unknown, "Missing closing '\"'", namesCommand: false)
    }

    private static func parseUnquoted(_ rest: inout ArraySlice<UInt8>) throws(MPDError) -> String {
        let value = rest.prefix { $0 > 0x20 }
        guard !value.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }) else {
            throw MPDError(.unknown, "Invalid unquoted character", namesCommand: false)
        }
        rest.removeFirst(value.count)
        dropBlanks(&rest)
        return String(decoding: value, as: UTF8.self)
    }

    private static func dropBlanks(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 <= 0x20 }
    }
}

extension UInt8 {
    var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
