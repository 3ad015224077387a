extension String {
    /// The number of terminal columns that the string takes.
    package var terminalColumns: Int { reduce(0) { $0 + $1.terminalColumns } }

    /// Returns the string, cut with an ellipsis if it takes more than `width` terminal columns.
    package func cut(to width: Int) -> String { terminalColumns <= width ? self : fitted(to: width) }

    /// Returns the string padded, or cut with an ellipsis, to `width` terminal columns.
    package func fitted(to width: Int, with filler: Character = " ") -> String {
        guard width > 0 else { return "" }
        guard terminalColumns <= width else { return prefix(of: width - 1) + "…" }
        return self + String(repeating: filler, count: width - terminalColumns)
    }

    /// Returns the start of the string that fits into `width` terminal columns, padded with spaces.
    private func prefix(of width: Int) -> String {
        var result = ""
        var used = 0
        for character in self {
            let columns = character.terminalColumns
            guard used + columns <= width else { break }
            result.append(character)
            used += columns
        }
        return result + String(repeating: " ", count: max(0, width - used))
    }
}

extension Character {
    /// 2 for characters that East Asian Width calls wide and for emoji, 0 for marks without a base and invisible format
    /// characters, otherwise 1.
    fileprivate var terminalColumns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.isASCII { return 1 }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        // Terminals show a soft hyphen.
        case .format where scalar.value != 0xAD: return 0
        default: break
        }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
