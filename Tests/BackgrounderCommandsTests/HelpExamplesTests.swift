import ArgumentParser
import Testing

@testable import BackgrounderCommands

/// The examples in the help of each command.
struct HelpExamplesTests {
    /// What a command is called by, and what its help says beside the options.
    struct Help: CustomTestStringConvertible, Sendable {
        var words: String
        var discussion: String

        var testDescription: String { words }
    }

    /// All commands from `command` down; one that is not shown is called by its parent's words alone.
    private static func walk(_ command: any ParsableCommand.Type, under parent: String) -> [Help] {
        let configuration = command.configuration
        let words = parent.isEmpty ? command._commandName : "\(parent) \(command._commandName)"
        let help = Help(words: configuration.shouldDisplay ? words : parent, discussion: configuration.discussion)
        return [help] + configuration.subcommands.flatMap { walk($0, under: words) }
    }

    static let all = walk(RootCommand.self, under: "")

    @Test func `All commands are walked`() {
        let words = Set(Self.all.map(\.words))
        #expect(words.isSuperset(of: ["backgrounder", "backgrounder attach", "backgrounder audio seek"]))
        #expect(Self.all.count > 80, "\(words.sorted())")
    }

    @Test(arguments: all)
    func `Each command has an example that begins with its own words, and no line of it is wrapped`(help: Help) throws {
        let lines = help.discussion.split(separator: "\n")
        let start = try #require(lines.firstIndex { $0 == "EXAMPLE" || $0 == "EXAMPLES" }, "no examples")
        let examples = lines[(start + 1)...]
        #expect(examples.contains { $0 == "  \(help.words)" || $0.hasPrefix("  \(help.words) ") }, "\(examples)")
        // The library breaks a line that, with its end, has more characters than a screen has columns.
        let long = examples.filter { $0.hasPrefix("  ") && $0.count >= 80 }
        #expect(long.isEmpty, "\(long)")
    }
}
