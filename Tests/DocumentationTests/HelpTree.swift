import ArgumentParser
import BackgrounderCommands
import BackgrounderDaemon
import Foundation

/// A command as ArgumentParser describes it (`--experimental-dump-help`).
struct HelpTree: Decodable, Sendable {
    struct Argument: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            var kind: String
            var name: String

            /// The name with its dashes, as typed.
            var spelling: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var abstract: String?
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var isOptional: Bool
        var isRepeating: Bool
        var parsingStrategy: String
        var shouldDisplay: Bool

        var isPositional: Bool { kind == "positional" }
        var spellings: [String] { (names ?? []).map(\.spelling) }
    }

    private struct Dump: Decodable {
        var command: HelpTree
    }

    var commandName: String
    var superCommands: [String]?
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool
    var defaultSubcommand: String?
    var subcommands: [HelpTree]?
    var arguments: [Argument]?

    /// `backgrounder` with all subcommands.
    static let client = tree(of: RootCommand._dumpHelp())
    /// `backgrounderd` with all subcommands.
    static let daemon = tree(of: DaemonCommand._dumpHelp())

    private static func tree(of dump: String) -> HelpTree {
        do {
            return try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
        } catch {
            fatalError("cannot decode the description of the commands: \(error)")
        }
    }

    /// The command with its parents, as typed.
    var words: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

    /// Subcommands that the help lists, without `help`.
    var shownSubcommands: [HelpTree] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    /// This command and all commands below it that the help lists.
    var shown: [HelpTree] { [self] + shownSubcommands.flatMap(\.shown) }

    func subcommand(_ name: String) -> HelpTree? { subcommands?.first { $0.commandName == name } }

    /// The `backgrounderd` command that this one runs, if it does.
    var executed: HelpTree? {
        guard (arguments ?? []).contains(where: { $0.parsingStrategy == "allRemainingInput" }) else { return nil }
        // `place replay` runs `place-replay`, and `track replay` runs `replay`.
        let noun = superCommands?.last.map { "\($0)-\(commandName)" } ?? commandName
        return HelpTree.daemon.subcommand(noun) ?? HelpTree.daemon.subcommand(commandName)
    }

    /// The arguments of this command, of its hidden default subcommand, or of the `backgrounderd` command it runs.
    var ownArguments: [Argument] {
        if let executed { return executed.ownArguments }
        let fallback = defaultSubcommand.flatMap(subcommand)
        let inherited = fallback.map { $0.shouldDisplay ? [] : $0.ownArguments } ?? []
        return ((arguments ?? []) + inherited).filter(\.shouldDisplay)
    }

    /// The options that this command and its default subcommand accept.
    var options: Set<String> {
        let fallback = defaultSubcommand.flatMap(subcommand)
        return Set((ownArguments + (fallback?.ownArguments ?? [])).flatMap(\.spellings))
    }
}
