extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// Creates the value whose raw value is `word` in upper or lower case; returns `nil` if there is none.
    package init?(ignoringCase word: String) {
        let word = word.lowercased()
        guard let value = Self.allCases.first(where: { $0.rawValue.lowercased() == word }) else { return nil }
        self = value
    }
}
