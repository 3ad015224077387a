import ArgumentParser
import SystemSupport

/// Arguments that cannot be parsed, and the line that says why. Any thread.
struct RejectedArguments {
    private let arguments: [String]
    /// The command that the first arguments name.
    private var command: any ParsableCommand.Type = RootCommand.self
    /// The names of `command` and the commands above it.
    private var words = [RootCommand._commandName]
    /// The argument that follows the names of commands, unless it is an option.
    private var next: String?

    init(_ arguments: [String]) {
        self.arguments = arguments
        var isAfterOption = false
        for argument in arguments {
            if argument.hasPrefix("-") {
                isAfterOption = true
                continue
            }
            guard let inner = command.configuration.subcommands.first(where: { $0._commandName == argument }) else {
                if !isAfterOption, argument != "help" { next = argument }
                break
            }
            command = inner
            words.append(argument)
        }
    }

    /// Returns one line: the parser's `message`, or a suggestion for an unknown command; and the command that shows the
    /// help.
    func line(for message: String) -> String {
        guard let word = next(orIn: message) else { return ParserMessage.line(message, see: page(words)) }
        guard !command.configuration.subcommands.isEmpty else {
            return "unexpected argument \(word); see `\(page(words))`"
        }
        guard let suggestion = Suggestion(for: word, below: command, named: words) else {
            return "unknown command \(word); see `\((words + ["--help"]).joined(separator: " "))`"
        }
        return "unknown command \(word); did you mean \(suggestion.text)? see `\(page(suggestion.words))`"
    }

    /// The word that is not a command of a group, or that a command does not take.
    private func next(orIn message: String) -> String? {
        if let next, !command.configuration.subcommands.isEmpty { return next }
        // ArgumentParser has no public type for this error.
        guard message.hasPrefix("Unexpected argument '") || message.contains(" unexpected arguments: '") else {
            return nil
        }
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count > 1 ? String(parts[1]) : nil
    }

    /// Returns the command that shows the help of the command with the names `words`, or of its default subcommand.
    private func page(_ words: [String]) -> String {
        var command: any ParsableCommand.Type = RootCommand.self
        for word in words.dropFirst() {
            command = command.configuration.subcommands.first { $0._commandName == word } ?? command
        }
        let standard = command.configuration.defaultSubcommand.map { [$0._commandName] } ?? []
        return (words + standard + ["--help"]).joined(separator: " ")
    }
}

/// The command that a mistyped word probably means.
private struct Suggestion {
    /// The names of the command and of those above it.
    let words: [String]
    /// The words to type, as far as they differ from those before the mistyped one.
    let text: String

    /// Looks for a similar name among the commands below `command`, then for a command of the same name anywhere.
    init?(for word: String, below command: any ParsableCommand.Type, named parents: [String]) {
        let word = word.lowercased()
        if let name = Self.nearest(to: word, among: command.configuration.subcommands.map { $0._commandName }) {
            (words, text) = (parents + [name], name)
            return
        }
        let elsewhere = Self.paths(to: word, below: RootCommand.self, [RootCommand._commandName])
        guard let only = elsewhere.first, elsewhere.count == 1 else { return nil }
        (words, text) = (only, only.dropFirst().joined(separator: " "))
    }

    private static func nearest(to word: String, among names: [String]) -> String? {
        let longer = names.filter { $0.hasPrefix(word) }
        if word.count > 1, longer.count == 1 { return longer[0] }
        // Tuned: two wrong letters; in a short word, one of them changes its meaning.
        let limit = word.count < 4 ? 1 : 2
        let near = names.map { (name: $0, distance: word.editDistance(to: $0)) }
            .filter { $0.distance <= limit && $0.distance < $0.name.count - 1 }
        return near.min { $0.distance < $1.distance }?.name
    }

    private static func paths(
        to name: String,
        below command: any ParsableCommand.Type,
        _ parents: [String]
    ) -> [[String]] {
        command.configuration.subcommands.flatMap { inner in
            let words = parents + [inner._commandName]
            return (inner._commandName == name ? [words] : []) + paths(to: name, below: inner, words)
        }
    }
}
