/// Renders `docs/commands.md` below its introduction: every command with its usage, its options and its examples.
struct CommandReference {
    /// Options that the introduction describes once for all commands.
    private static let common: Set<String> = ["--home", "--version", "--help"]

    static func markdown() -> String {
        let commands = HelpTree.client.shownSubcommands.flatMap(section) + section(HelpTree.daemon)
        return commands.joined(separator: "\n")
    }

    /// The lines for a command directly below a program, and for everything below it.
    private static func section(_ command: HelpTree) -> [String] {
        command.shown.flatMap { each in
            [(each.words == command.words ? "## " : "### ") + each.words, ""] + body(each)
        }
    }

    private static func body(_ command: HelpTree) -> [String] {
        let paragraphs = ((command.executed ?? command).discussion ?? "").split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        let start = paragraphs.firstIndex { $0 == "EXAMPLE" || $0 == "EXAMPLES" } ?? paragraphs.endIndex
        let examples = paragraphs[start...].dropFirst().prefix { $0.hasPrefix("  ") }
        let arguments = command.ownArguments.filter { common.isDisjoint(with: $0.spellings) }
        var lines = [command.abstract ?? "", ""]
        if command.shownSubcommands.isEmpty || !arguments.isEmpty {
            lines += ["```", usage(of: command, arguments), "```", ""]
        }
        lines += paragraphs[..<start].map(String.init)
        if start > paragraphs.startIndex, lines.last != "" { lines.append("") }
        if !arguments.isEmpty {
            lines += ["| argument | meaning |", "|---|---|"]
            lines += arguments.map { "| `\(cell(spelling(of: $0)))` | \(meaning(of: $0)) |" } + [""]
        }
        lines += ["```sh"] + examples.map { String($0.dropFirst(2)) } + ["```", ""]
        return lines
    }

    private static func usage(of command: HelpTree, _ arguments: [HelpTree.Argument]) -> String {
        let parts = arguments.map { argument in
            var part = argument.isPositional ? "<\(argument.valueName ?? "")>" : spelling(of: argument)
            if argument.isRepeating { part += " ..." }
            if argument.isOptional { part = "[\(part)]" }
            return argument.parsingStrategy == "postTerminator" ? "-- \(part)" : part
        }
        return ([command.words] + parts).joined(separator: " ")
    }

    private static func spelling(of argument: HelpTree.Argument) -> String {
        let value = "<\(argument.valueName ?? "")>"
        if argument.isPositional { return value }
        let names = argument.spellings.joined(separator: ", ")
        return argument.kind == "flag" ? names : "\(names) \(value)"
    }

    private static func meaning(of argument: HelpTree.Argument) -> String {
        var text = cell(argument.abstract ?? "").replacing("<", with: "&lt;")
        // The two values of `--format` are part of its text.
        if let values = argument.allValues, values.count > 1, values != ["table", "json"] {
            text += " One of " + values.map { "`\($0)`" }.joined(separator: ", ") + "."
        }
        return argument.defaultValue.map { "\(text) Default: `\($0)`." } ?? text
    }

    /// `text` for the cell of a table.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
