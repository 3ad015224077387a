import ArgumentParser

/// Parses the id of an item, a task, a transfer or a trip.
@Sendable func parseID(_ text: String) throws -> Int {
    guard let id = Int(text) else {
        throw ValidationError("\(text.debugDescription) is not a valid id; use a whole number, such as 3")
    }
    return id
}

/// Returns a parser of whole numbers. Its error says to use `allowed`.
func wholeNumber(_ allowed: String) -> @Sendable (String) throws -> Int {
    return { text in
        guard let number = Int(text) else {
            throw ValidationError("\(text.debugDescription) is not a whole number; use \(allowed)")
        }
        return number
    }
}

/// Parses a distance in metres. Returns `nil` if `texts` is empty, and `.some(nil)` for `none`.
func parseMetres(_ texts: [String], zero: Bool) throws -> Double?? {
    guard let text = texts.first else { return nil }
    if texts.count == 1, text.lowercased() == "none" { return .some(nil) }
    guard texts.count == 1, let value = Double(text), value.isFinite, zero ? value >= 0 : value > 0, value <= 20_037_508
    else {
        let least = zero ? "0 or more" : "more than 0"
        throw ValidationError(
            "\(texts.joined(separator: " ").debugDescription) is not a valid distance; use \(least) metres, or none"
        )
    }
    return value
}

extension [String] {
    /// The words without the `--` that ends the options, which ArgumentParser leaves before a number such as `-5`.
    var withoutTerminator: ArraySlice<String> { first == "--" ? dropFirst() : self[...] }
}
