/// Finds the names that were probably meant by misspelt ones.
package enum Spelling {
    /// Returns the name in `names` that is spelt most like `name`; `nil` if none is similar.
    ///
    /// Capitals, hyphens, underscores and dots do not count.
    package static func closest(to name: String, among names: some Sequence<String>) -> String? {
        let plain = plain(name)
        // Tuned: with more wrong letters, short names resemble unrelated ones.
        let most = (plain.count + 1) / 3
        return names.map { (name: $0, errors: plain.editDistance(to: Self.plain($0))) }
            .filter { $0.errors <= most && $0.errors < plain.count }
            .min { $0.errors < $1.errors }?.name
    }

    /// Returns whether two names differ only in capitals, hyphens, underscores and dots.
    package static func isSame(_ one: String, _ other: String) -> Bool { plain(one) == plain(other) }

    private static func plain(_ name: String) -> String {
        // Tuned: longer than any name; the comparison takes the product of the lengths.
        String(name.lowercased().filter { !"-_.".contains($0) }.prefix(100))
    }
}
