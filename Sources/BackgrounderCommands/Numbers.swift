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
