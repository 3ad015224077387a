/// The messages of ArgumentParser in the style of ours: one line without bullets and full stops.
///
///     ParserMessage.line("Unknown option '--foramt'. Did you mean '--format'?")
///     // unknown option '--foramt'; did you mean '--format'?
package enum ParserMessage {
    /// Returns `message` as one line. A message of ours is returned as it is.
    package static func line(_ message: String) -> String {
        var line = message.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
        let isForeign = openings.contains(where: line.hasPrefix)
        guard isForeign else { return line }
        if line.hasSuffix(".") { line.removeLast() }
        line = line.replacing(". Did you mean ", with: "; did you mean ")
        if let list = line.ranges(of: bulleted).first {
            line = line[..<list.lowerBound] + "; use one of " + line[list.upperBound...].replacing(" - ", with: ", ")
        } else if let list = line.ranges(of: listed).first {
            line = line[..<list.lowerBound] + "; use " + line[list.upperBound...].replacing(" and ", with: " or ")
        }
        return line.prefix(1).lowercased() + line.dropFirst()
    }

    /// Returns `message` as one line that ends with the command to see.
    package static func line(_ message: String, see page: String) -> String {
        let line = line(message)
        return line + (line.hasSuffix("?") ? "" : ";") + " see `\(page)`"
    }

    private static let openings = [
        "Unknown option", "Unexpected ", "Missing ", "The value '", "The option '", "Invalid ",
    ]
    private static let bulleted = ". Please provide one of the following: - "
    private static let listed = ". Please provide one of "
}
