/// A text that the renderer speaks as it is.
struct SpeechText: Hashable, Sendable {
    /// The maximum number of bytes. Tuned: about three minutes of speech.
    static let limit = 2000

    /// One line without control characters.
    let content: String

    /// Removes from `text` what the renderer would interpret.
    ///
    /// - Throws: ``SpeechError/text(_:)`` if the text is too long, or if nothing is left.
    init(_ text: String) throws(SpeechError) {
        let count = text.utf8.count
        guard count <= Self.limit else { throw .text("it has \(count) bytes, more than \(Self.limit)") }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control where !scalar.properties.isWhitespace: continue
            case .control, .lineSeparator, .paragraphSeparator: scalars.append(" ")
            default:
                // espeak-ng reads phoneme codes between [[ and ]].
                if scalar == "[", scalars.last == "[" { scalars.append(" ") }
                scalars.append(scalar)
            }
        }
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard !scalars.isEmpty else { throw .text("it is empty") }
        content = String(scalars)
    }
}
