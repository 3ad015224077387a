/// A call of `backgrounder` or `backgrounderd` in a page.
struct Invocation {
    /// The unknown subcommands and options; empty if all exist.
    let problems: [String]

    /// Parses `text`, which may begin with a prompt and variables; `nil` if it does not call one of the programs.
    init?(_ text: String) {
        var words = Self.words(of: text)
        if words.first == "$" { words.removeFirst() }
        words = Array(words.drop { $0 == "sudo" || ($0.contains("=") && !$0.hasPrefix("-")) })
        let programs = ["backgrounder": HelpTree.client, "backgrounderd": HelpTree.daemon]
        guard let program = words.first?.split(separator: "/").last.flatMap({ programs[String($0)] }) else {
            return nil
        }
        problems = Self.problems(of: words.dropFirst(), in: program)
    }

    /// Parses a call without the program's name, such as `task begin`; `nil` if `text` does not look like one.
    init?(short text: String) {
        let words = Self.words(of: text)
        guard let first = words.first, words.count > 1, let command = HelpTree.client.subcommand(first),
            command.shownSubcommands.isEmpty == false, words[1].allSatisfy(\.isLowercase)
        else { return nil }
        problems = Self.problems(of: words[...], in: HelpTree.client)
    }

    private static func problems(of words: ArraySlice<String>, in program: HelpTree) -> [String] {
        var command = program
        var words = words
        if words.first == "help" || words.first == "..." { return [] }
        // `--home` may precede the command.
        if words.first == "--home" { words = words.dropFirst(2) }
        while let word = words.first, let next = command.subcommand(word) {
            command = next
            words = words.dropFirst()
        }
        if let word = words.first, !command.shownSubcommands.isEmpty, command.defaultSubcommand == nil,
            program.commandName == "backgrounder",
            !word.hasPrefix("-")
        {
            return ["\(command.words) has no subcommand \(word)"]
        }
        return words.prefix { $0 != "--" }.filter { $0.hasPrefix("-") && $0.contains { $0.isLetter } }
            .map { String($0.prefix { $0 != "=" }) }
            .filter { !command.options.contains($0) }
            .map { "\(command.words) has no option \($0)" }
    }

    /// The words of a shell command up to its end or the first operator; quoted words are one.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if "|><;&#(".contains(character) && (word.isEmpty || character != "#") {
                break
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}
