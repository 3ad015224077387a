extension String {
    /// With U+FFFD in the place of each character that a terminal would obey; for one line of text.
    ///
    /// What comes from tags, files and the network may hold anything: C0, DEL and C1 control characters, separators of
    /// lines and paragraphs, and Unicode's Bidi_Control, which makes text read as what it is not.
    package var withoutControlCharacters: String {
        replacingControlCharacters { _ in "\u{FFFD}" }
    }

    /// With JSON's `\uXXXX` in the place of each such character; for one line of JSON, whose values it leaves as they are.
    package var withEscapedControlCharacters: String {
        replacingControlCharacters { scalar in
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Text of lines: with newlines and tabs as they are, and the rest of what a terminal would obey replaced. A carriage return
    /// before a newline is part of it.
    package var printableLines: String {
        split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false)
                .map { String($0).withoutControlCharacters }.joined(separator: "\t")
        }.joined(separator: "\n")
    }

    private func replacingControlCharacters(_ replacement: (Unicode.Scalar) -> String) -> String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isControl {
                result += replacement(scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    /// All of them have at most four hexadecimal digits.
    fileprivate var isControl: Bool {
        guard !(0x20...0x7E).contains(value) else { return false }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
