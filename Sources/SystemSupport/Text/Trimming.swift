extension Substring {
    /// The text without spaces and tabs at both ends.
    package var trimmed: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let rest = drop(while: isBlank)
        return rest.lastIndex { !isBlank($0) }.map { rest[...$0] } ?? ""
    }
}
