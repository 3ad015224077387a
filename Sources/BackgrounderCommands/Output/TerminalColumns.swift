extension String {
    /// The number of terminal columns that the string takes.
    var terminalColumns: Int { reduce(0) { $0 + $1.terminalColumns } }

    /// Returns the string cut or padded to `width` terminal columns.
    func fitted(to width: Int, with filler: Character = " ") -> String {
        var result = ""
        var used = 0
        for character in self {
            let columns = character.terminalColumns
            guard used + columns <= width else { break }
            result.append(character)
            used += columns
        }
        return result + String(repeating: filler, count: max(0, width - used))
    }
}

extension Character {
    /// 2 for characters that East Asian Width calls wide and for emoji, otherwise 1.
    fileprivate var terminalColumns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
