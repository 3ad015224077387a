/// Converts texts of feeds to one line of plain text.
enum FeedText {
    /// The markup of a text.
    enum Markup {
        case plain
        /// Declared as HTML.
        case html
        /// Plain text or HTML: RSS does not specify which. Only the names of known elements are treated as tags.
        case unknown
    }

    /// Returns `text` as one line without markup and control characters; `nil` if nothing is left.
    ///
    /// Each run of whitespace becomes one space. A line longer than ``FeedLimits/title`` is truncated and ends in "…".
    static func line(_ text: String, _ markup: Markup) -> String? {
        let plain =
            switch markup {
            case .plain: text
            case .html: decodingEntities(removingTags(text) { _ in true })
            case .unknown: decodingEntities(removingTags(text, isTag: tags.contains))
            }
        var line = ""
        var count = 0
        var isAfterBlank = false
        for scalar in plain.unicodeScalars {
            // In content declared as ISO 8859-1, C1 control characters are almost always characters of Windows-1252.
            let scalar = Windows1252.scalar(scalar)
            if scalar.properties.isWhitespace {
                isAfterBlank = !line.isEmpty
                continue
            }
            if isInvisible(scalar) { continue }
            guard count < FeedLimits.title else { return line + "…" }
            if isAfterBlank { line += " " }
            isAfterBlank = false
            line.unicodeScalars.append(scalar)
            count += 1
        }
        return line.isEmpty ? nil : line
    }

    /// Whether a scalar is a control character, which a terminal might interpret, or only marks where a line may break.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0xAD, 0x200B, 0xFEFF: true
        default: scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
        }
    }

    /// The elements that occur in titles.
    private static let tags: Set<String> = [
        "a", "abbr", "b", "big", "blockquote", "br", "center", "cite", "code", "dfn", "del", "div",
        "em", "font", "h1",
        "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "nobr", "ol", "p",
        "pre", "q", "s",
        "samp", "script", "small", "span", "strike", "strong", "style", "sub", "sup", "table", "td",
        "th", "tr", "tt",
        "u", "ul", "var", "wbr", HTMLTag.comment,
    ]
    /// The elements that separate words.
    private static let blocks: Set<String> = [
        "blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "td",
        "th", "tr", "ul",
    ]

    /// Returns `text` without tags, comments, and the content of scripts and styles.
    private static func removingTags(_ text: String, isTag: (String) -> Bool) -> String {
        guard text.utf8.contains(UInt8(ascii: "<")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        // The open `script` or `style` element, whose content is dropped.
        var hidden: String?
        let lastEnd = bytes.lastIndex(of: UInt8(ascii: ">")) ?? 0
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<"), position < lastEnd,
                let tag = HTMLTag(bytes, at: position, isTag)
            else {
                if hidden == nil { result.append(bytes[position]) }
                position += 1
                continue
            }
            position = tag.end
            if hidden == tag.name, tag.isClosing { hidden = nil }
            if hidden == nil, !tag.isClosing, tag.name == "script" || tag.name == "style" {
                hidden = tag.name
            }
            if blocks.contains(tag.name) { result.append(UInt8(ascii: " ")) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns `text` with HTML character references replaced by the characters; unknown references stay as they are.
    static func decodingEntities(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            // No known reference is longer.
            let end = rest.utf8.prefix(14).firstIndex(of: UInt8(ascii: ";"))
            if let end, let character = HTMLEntities.character(rest[rest.index(after: start)..<end]) {
                result.unicodeScalars.append(character)
                rest = rest[rest.index(after: end)...]
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}
