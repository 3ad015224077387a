/// Names that come from elsewhere and become files here.
package enum FileName {
    /// The most bytes that a name has on Linux' file systems.
    private static let longest = 255

    /// `name`, when it names a file in a folder and nothing else.
    package static func checked(_ name: String) throws(FileNameError) -> String {
        guard !name.isEmpty else { throw .empty }
        guard !name.utf8.contains(UInt8(ascii: "/")) else { throw .slash }
        guard name.utf8.first != UInt8(ascii: ".") else { throw .leadingDot }
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
            default: !scalar.properties.isBidiControl
            }
        }
        guard isPlain else { throw .controlCharacter }
        guard name.utf8.count <= longest else { throw .tooLong(name.utf8.count) }
        return name
    }
}

/// Why a name is none for a file.
package enum FileNameError: Error, Hashable, CustomStringConvertible {
    case empty
    case slash
    /// `.` and `..` among them.
    case leadingDot
    case controlCharacter
    case tooLong(Int)
    case notText

    package var description: String {
        switch self {
        case .empty: "it is empty"
        case .slash: "it has a slash"
        case .leadingDot: "it begins with a dot"
        case .controlCharacter: "it has control characters"
        case .tooLong(let count): "it has \(count) bytes, and 255 are the most"
        case .notText: "it is no text in UTF-8"
        }
    }
}
