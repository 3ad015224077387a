import SystemSupport

/// A value of JSON as a property of a place.
enum JSONValue {
    case text(String)
    /// A number as it is written.
    case number(String)
    /// `true`, `false`, or the JSON text of an array or object.
    case other(String)
    case null

    /// The value as a text; `nil` for null.
    var text: String? {
        switch self {
        case .text(let text), .number(let text), .other(let text): text
        case .null: nil
        }
    }
}

extension JSONReader {
    /// Reads the next value, whose text may have at most `limit` bytes.
    mutating func value(limit: Int) throws(ImportFault) -> JSONValue {
        switch try next {
        case UInt8(ascii: "\""): return .text(try string(limit: limit))
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "{"), UInt8(ascii: "["):
            var text = TextBuffer()
            try copy(into: &text, limit: limit)
            return .other(text.string)
        default: return .number(try numeral())
        }
    }

    /// Reads a list of texts: an array of strings, or a string with commas. Null is an empty list.
    mutating func tags() throws(ImportFault) -> [String] {
        switch try next {
        case UInt8(ascii: "["):
            var tags: [String] = []
            try array { (json) throws(ImportFault) in
                guard tags.count < ImportLimits.tags else {
                    throw ImportFault(
                        .tooMany("tags", limit: ImportLimits.tags, remedy: "remove some"),
                        line: json.line
                    )
                }
                guard try json.isNext("\"") else {
                    throw ImportFault(.unsuitable("a tag is not a text; put it in quotation marks"), line: json.line)
                }
                tags.append(try json.string(limit: ImportLimits.propertyValue))
            }
            return PlaceCollector.unique(tags)
        case UInt8(ascii: "\""): return PlaceCollector.tags(try string(limit: ImportLimits.propertyValue))
        case UInt8(ascii: "n"):
            try word("null")
            return []
        default:
            throw ImportFault(
                .unsuitable("the tags are not a list; use an array of texts or one text with commas"),
                line: line
            )
        }
    }

    /// Appends the JSON text of the next value without white space.
    private mutating func copy(into text: inout TextBuffer, limit: Int) throws(ImportFault) {
        guard text.count <= limit else { throw ImportFault(.tooLong("a property", limit: limit), line: line) }
        var isFirst = true
        switch try next {
        case UInt8(ascii: "{"):
            text.append("{")
            try object { (json, name) throws(ImportFault) in
                if !isFirst { text.append(",") }
                isFirst = false
                text.append(quoted: name)
                text.append(":")
                try json.copy(into: &text, limit: limit)
            }
            text.append("}")
        case UInt8(ascii: "["):
            text.append("[")
            try array { (json) throws(ImportFault) in
                if !isFirst { text.append(",") }
                isFirst = false
                try json.copy(into: &text, limit: limit)
            }
            text.append("]")
        case UInt8(ascii: "\""): text.append(quoted: try string(limit: limit))
        case UInt8(ascii: "t"): try copy("true", into: &text)
        case UInt8(ascii: "f"): try copy("false", into: &text)
        case UInt8(ascii: "n"): try copy("null", into: &text)
        default: text.append(text: try numeral())
        }
    }

    private mutating func copy(_ literal: StaticString, into text: inout TextBuffer) throws(ImportFault) {
        try word(literal)
        text.append(literal)
    }
}
