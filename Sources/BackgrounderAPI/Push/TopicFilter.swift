import SystemSupport

/// An MQTT topic filter, in which `+` stands for one level and a final `#` for all further levels.
package struct TopicFilter: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Checks a filter.
    ///
    /// - Throws: ``TopicFilterError`` if MQTT 3.1.1 (section 4.7) does not allow it.
    package init(_ text: String) throws(TopicFilterError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= 1024 else { throw .long(text.utf8.count) }  // Tuned: MQTT's own limit is 65,535.
        guard text.withoutControlCharacters == text else { throw .controlCharacter }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains("+") || level.contains("#") {
            let isWhole = level == "+" || (level == "#" && index == levels.count - 1)
            guard isWhole else { throw .wildcard(text) }
        }
        description = text
    }
}

/// Why a text is not a ``TopicFilter``.
package enum TopicFilterError: Error, Hashable, CustomStringConvertible {
    case empty
    case long(Int)
    case controlCharacter
    case wildcard(String)

    package var description: String {
        switch self {
        case .empty: "the topic is empty; use one such as home/news"
        case .long(let count): "the topic has \(count) bytes; use at most 1024"
        case .controlCharacter: "the topic contains a control character; use one such as home/news"
        case .wildcard(let text):
            "\(text.debugDescription) is not a valid topic; + must be a whole level, and # the last level"
        }
    }
}
