extension String {
    /// The text with U+FFFD in place of each character that a terminal would interpret; for one line of text.
    ///
    /// Text from tags, files and the network may contain C0, DEL and C1 control characters, line and paragraph separators, and
    /// Unicode's Bidi_Control, which disguises text.
    package var withoutControlCharacters: String {
        replacingControlCharacters { _ in "\u{FFFD}" }
    }

    /// The text with JSON's `\uXXXX` in place of each such character; for one line of JSON, whose values stay the same.
    package var withEscapedControlCharacters: String {
        replacingControlCharacters { scalar in
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Like ``withoutControlCharacters`` for several lines: newlines, tabs, and carriage returns before newlines are kept.
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
    /// Whether a terminal would interpret the scalar. All such scalars have at most four hexadecimal digits.
    fileprivate var isControl: Bool {
        guard !(0x20...0x7E).contains(value) else { return false }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
