/// An HTML tag or comment in a text.
struct HTMLTag {
    /// The ``name`` of a comment.
    static let comment = "!--"

    /// The name of the element in lower case.
    var name: String
    var isClosing: Bool
    /// The offset after the closing `>`.
    var end: Int

    /// Parses the tag whose `<` is at `start`; `nil` unless there is a tag with a name that `isTag` accepts.
    init?(_ bytes: [UInt8], at start: Int, _ isTag: (String) -> Bool) {
        var position = start + 1
        guard !bytes[position...].starts(with: Self.comment.utf8) else {
            guard isTag(Self.comment) else { return nil }
            position += Self.comment.utf8.count
            while position < bytes.count, !bytes[position...].starts(with: "-->".utf8) { position += 1 }
            (name, isClosing, end) = (Self.comment, false, min(bytes.count, position + 3))
            return
        }
        isClosing = position < bytes.count && bytes[position] == UInt8(ascii: "/")
        if isClosing { position += 1 }
        let nameStart = position
        while position < bytes.count, Self.isNamed(bytes[position], first: position == nameStart) {
            position += 1
        }
        name = String(decoding: bytes[nameStart..<position], as: UTF8.self).lowercased()
        // Check the name first: searching for the end of every `<` would take quadratic time.
        guard !name.isEmpty, isTag(name),
            let close = bytes[position...].firstIndex(of: UInt8(ascii: ">"))
        else {
            return nil
        }
        end = close + 1
    }

    private static func isNamed(_ byte: UInt8, first: Bool) -> Bool {
        let isLetter = (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        return isLetter || (!first && (0x30...0x39).contains(byte))
    }
}
