/// Validates names from the network for use as file names.
package enum FileName {
    /// The maximum length of a file name on Linux file systems, in bytes.
    private static let longest = 255

    /// Returns `name` if it is a plain name within a folder: not empty, hidden or too long, without slashes and control
    /// characters.
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

/// Why a name is rejected as a file name.
package enum FileNameError: Error, Hashable, CustomStringConvertible {
    case empty
    case slash
    /// Includes `.` and `..`.
    case leadingDot
    case controlCharacter
    case tooLong(Int)
    case notText

    package var description: String {
        switch self {
        case .empty: "the name is empty"
        case .slash: "the name contains a slash"
        case .leadingDot: "the name begins with a dot"
        case .controlCharacter: "the name contains control characters"
        case .tooLong(let count): "the name has \(count) bytes, more than the maximum of 255"
        case .notText: "the name is not valid UTF-8"
        }
    }
}
