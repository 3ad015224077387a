/// What a push subscribes to: a topic of MQTT, in which `+` stands for one level and `#`, at the end, for all that follow.
package struct TopicFilter: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Throws: ``TopicFilterError`` for what MQTT 3.1.1 (section 4.7) does not allow.
    package init(_ text: String) throws(TopicFilterError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= 1024 else { throw .long(text.utf8.count) }  // judgement: MQTT's own limit is 65,535
        guard text.withoutControlCharacters == text else { throw .controlCharacter }
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains("+") || level.contains("#") {
            let isWhole = level == "+" || (level == "#" && index == levels.count - 1)
            guard isWhole else { throw .wildcard(text) }
        }
        description = text
    }
}

/// Why a text is no ``TopicFilter``.
package enum TopicFilterError: Error, Hashable, CustomStringConvertible {
    case empty
    case long(Int)
    case controlCharacter
    case wildcard(String)

    package var description: String {
        switch self {
        case .empty: "the topic is empty: give one such as home/news"
        case .long(let count): "the topic has \(count) bytes: give one of at most 1024"
        case .controlCharacter: "the topic holds a control character: give one such as home/news"
        case .wildcard(let text):
            "\(text.debugDescription) is no topic: + stands for a whole level, and # for all levels at the end"
        }
    }
}
