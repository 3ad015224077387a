import SystemSupport

/// The characters that a terminal can show.
enum Charset: Hashable, Sendable {
    case unicode, ascii

    /// Returns the charset of a terminal with these environment variables: Unicode if the locale is one of UTF-8, except on
    /// terminals without a font for it.
    ///
    /// Reads the name of the locale instead of asking setlocale(3), which knows only locales that are installed here. The
    /// terminal may be that of another machine.
    init(environment: [String: String]) {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let codeset = locale.split(separator: ".", maxSplits: 1).dropFirst().first?.prefix { $0 != "@" } ?? ""
        let isUTF8 = ["utf-8", "utf8"].contains(codeset.lowercased())
        self = isUTF8 && !Self.isLimited(environment["TERM"] ?? "") ? .unicode : .ascii
    }

    /// Whether a terminal has only glyphs of a few hundred characters: the Linux console, and hardware terminals.
    private static func isLimited(_ terminal: String) -> Bool {
        ["linux", "ansi", "cons25"].contains(terminal) || terminal.hasPrefix("vt")
    }

    /// Returns a line as this charset shows it. The line takes the same columns.
    func shown(_ line: String) -> String {
        switch self {
        case .unicode: line
        case .ascii: line.isASCII ? line : String(line.flatMap { $0.inASCII })
        }
    }
}

extension String {
    fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

extension Character {
    /// ASCII characters in place of this one, that take as many terminal columns.
    fileprivate var inASCII: String {
        if isASCII { return String(self) }
        if let drawing = Self.drawings[self] { return String(drawing) }
        if let dots = unicodeScalars.first?.value, (0x2801...0x28FF).contains(dots) { return Self.dots(dots) }
        return String(repeating: "?", count: String(self).terminalColumns)
    }

    private static let drawings: [Character: Character] = [
        "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "|", "┤": "|", "─": "-", "│": "|", "━": "=", "…": "~", "▶": "*",
        "›": ">", "‖": "=", "✗": "x", "·": "-", "»": ">", "±": "~", "°": " ", "→": ">", "←": "<", "↑": "^", "↓": "v",
        "\u{2800}": " ",
    ]

    /// Returns a character with ink where the Braille pattern has dots: in the upper half, in the lower half, or in both.
    private static func dots(_ value: UInt32) -> String {
        // The bits of the two upper rows of dots are 0, 1, 3 and 4, those of the lower ones 2, 5, 6 and 7.
        let (upper, lower) = (value & 0b0001_1011, value & 0b1110_0100)
        return lower == 0 ? "'" : upper == 0 ? "." : ":"
    }
}
