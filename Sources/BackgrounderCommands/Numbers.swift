import ArgumentParser

/// Reads the id of an item, a task, a transfer or a trip.
@Sendable func parseID(_ text: String) throws -> Int {
    guard let id = Int(text) else {
        throw ValidationError("\(text.debugDescription) is no id: give a whole number, such as 3")
    }
    return id
}

/// What reads a whole number, and says of anything else that `allowed` is what to give.
func wholeNumber(_ allowed: String) -> @Sendable (String) throws -> Int {
    return { text in
        guard let number = Int(text) else {
            throw ValidationError("\(text.debugDescription) is no whole number: give \(allowed)")
        }
        return number
    }
}
