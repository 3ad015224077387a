/// Sort keys for natural order: compared by their bytes, `2 b` comes before `10 a`, and case makes no difference.
enum NaturalKey {
    /// Returns the key of a name.
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
            // A number is preceded by its number of digits: a 9 for each nine digits, then the remainder.
            key += String(repeating: "9", count: number.count / 9) + String(number.count % 9) + number
        }
        return key
    }

    /// Returns the key of a folder's path. A folder is directly followed by its contents.
    static func folder(_ path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).map { name(Substring($0)) }.joined(separator: "\u{1}")
    }

    /// Returns `text` with case folded, in all scripts.
    static func fold(_ text: String) -> String {
        // Uppercasing first turns ß into SS and unifies the two forms of the small sigma.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : text.uppercased().lowercased()
    }

    private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
}

/// Returns the bounds of the half-open range of paths that begin with `folder` and a slash; `0` is the character after
/// `/`.
func pathsBelow(_ folder: String) -> (from: String, to: String) { (folder + "/", folder + "0") }
