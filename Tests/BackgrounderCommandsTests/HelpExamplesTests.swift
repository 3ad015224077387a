import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// The examples in the help of each command.
struct HelpExamplesTests {
    /// The words that call a command, and its help text without the options.
    struct Help: CustomTestStringConvertible, Sendable {
        var words: String
        var discussion: String

        var testDescription: String { words }
    }

    /// `command` and all commands below it; a hidden command is called by the words of its parent.
    private static func walk(_ command: any ParsableCommand.Type, under parent: String) -> [Help] {
        let configuration = command.configuration
        let words = parent.isEmpty ? command._commandName : "\(parent) \(command._commandName)"
        let help = Help(words: configuration.shouldDisplay ? words : parent, discussion: configuration.discussion)
        return [help] + configuration.subcommands.flatMap { walk($0, under: words) }
    }

    static let all = walk(RootCommand.self, under: "")

    @Test func `every command is found`() {
        let words = Set(Self.all.map(\.words))
        #expect(words.isSuperset(of: ["backgrounder", "backgrounder attach", "backgrounder audio seek"]))
        #expect(Self.all.count > 80, "\(words.sorted())")
    }

    @Test func `each command names itself, as deriving names from types takes longer than a command`() {
        func nameless(_ command: any ParsableCommand.Type) -> [String] {
            (command.configuration.commandName == nil ? ["\(command)"] : [])
                + command.configuration.subcommands.flatMap(nameless)
        }
        #expect(nameless(RootCommand.self) == [])
    }

    @Test(arguments: [50, 60, 80, 120])
    func `paragraphs fill the width of the terminal`(columns: Int) {
        for command in Self.commands(under: RootCommand.self) {
            let help = RootCommand.helpMessage(for: command, columns: columns)
            let discussion = help.prefix(upTo: help.firstRange(of: "USAGE:")?.lowerBound ?? help.endIndex)
            let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst()) {
                // Examples and headings stay as they are.
                guard let word = next.split(separator: " ").first, !line.isEmpty, !line.hasPrefix(" "),
                    !next.hasPrefix(" "),
                    line.contains(where: \.isLowercase)
                else { break }
                #expect(line.count + 1 + word.count >= columns, "\(command): \(line) | \(next)")
            }
        }
    }

    private static func commands(under command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(commands)
    }

    @Test(arguments: all)
    func `each command has an example that begins with its own words and fits 80 columns`(help: Help) throws {
        let lines = help.discussion.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0 == "EXAMPLE" || $0 == "EXAMPLES" }, "no examples")
        let examples = lines[(start + 1)...]
        #expect(examples.contains { $0 == "  \(help.words)" || $0.hasPrefix("  \(help.words) ") }, "\(examples)")
        // ArgumentParser wraps lines of 80 characters and more.
        let long = examples.filter { $0.hasPrefix("  ") && $0.count >= 80 }
        #expect(long.isEmpty, "\(long)")
    }
}
