/// Texts that compare by their bytes as people count: `2 b` before `10 a`, and no difference between A and a.
enum NaturalKey {
    /// Of a name.
    static func name(_ name: Substring) -> String {
        var key = ""
        var rest = fold(String(name))[...]
        while let character = rest.first {
            guard isDigit(character) else {
                key.append(character)
                rest.removeFirst()
                continue
            }
            let digits = rest.prefix(while: isDigit)
            rest.removeFirst(digits.count)
            let number = digits.drop { $0 == "0" }
            // The length of a number goes before it: 1 to 8, and a 9 for each nine digits.
            key += String(repeating: "9", count: number.count / 9) + String(number.count % 9) + number
        }
        return key
    }

    /// Of a folder's path: what is in a folder comes right behind it.
    static func folder(_ path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).map { name(Substring($0)) }.joined(separator: "\u{1}")
    }

    /// A text without the difference between small and capital letters, of all scripts.
    static func fold(_ text: String) -> String {
        // First up: ß is SS then, and the two forms of the small sigma are one.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }

    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}

/// What begins with `folder` and a slash, as the ends of a range of texts: the character after the slash is the zero.
func pathsBelow(_ folder: String) -> (from: String, to: String) { (folder + "/", folder + "0") }
