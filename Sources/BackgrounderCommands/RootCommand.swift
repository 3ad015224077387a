package import ArgumentParser
import BackgrounderAPI
import Glibc

/// `backgrounder`: everything that people and scripts do with the service.
package struct RootCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: Backgrounder.commandName,
        abstract: "Background modes for machines without a screen.",
        discussion: """
            EXAMPLES
              backgrounder start --source gpsd://localhost:2947
              backgrounder attach                      # q detaches, the service goes on
              backgrounder location accuracy hundredMeters
              backgrounder track --last 5 --format json
              backgrounder queue add ~/music && backgrounder audio play
              backgrounder stop

            Exit codes: 0 done, 1 failed, 3 the service is not running, 4 no such item, 64 wrong arguments.
            """,
        version: Backgrounder.version,
        subcommands: [
            StartCommand.self, StopCommand.self, StatusCommand.self, AttachCommand.self, DoctorCommand.self,
            LogCommand.self, ReloadCommand.self, LocationCommand.self, TrackCommand.self, AudioCommand.self,
            QueueCommand.self, TaskCommand.self, FetchCommand.self, RefreshCommand.self, QuitCommand.self,
            TransferCommand.self, PushCommand.self, BackupCommand.self, RestoreCommand.self,
        ]
    )

    package init() {}

    /// Parses the arguments of this process, runs the command and ends the process.
    package static func runAndExit() async -> Never {
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try await asyncParseAsRoot(takeLeadingHome(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Glibc.exit(0)
        } catch let failure as CommandFailure {
            fail(failure.description, code: failure.exitCode)
        } catch {
            finish(error)
        }
    }

    /// Help and version go to stdout; what is wrong with the arguments is one line on stderr.
    private static func finish(_ error: any Error) -> Never {
        let code = exitCode(for: error).rawValue
        let text = message(for: error)
        guard code == 0 else {
            let line = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " } }.joined(separator: " ")
            fail(line + (code == 64 ? "; see `\(helpPage(for: error))`" : ""), code: code)
        }
        do {
            try Output.print(text)
            Glibc.exit(0)
        } catch {
            fail("\(error)", code: 1)
        }
    }

    /// The help of the command that was meant, as the last line of the library's own message names it.
    private static func helpPage(for error: any Error) -> String {
        let quoted = fullMessage(for: error).split(whereSeparator: \.isNewline).last?.split(separator: "'") ?? []
        return quoted.count == 3 ? String(quoted[1]) : "backgrounder --help"
    }

    private static func fail(_ reason: String, code: Int32) -> Never {
        if !reason.isEmpty { Output.note("backgrounder: \(reason)") }
        Glibc.exit(code)
    }

    /// `--home` may stand before the command too; there it counts as the environment's, which the command's own overrules.
    private static func takeLeadingHome(_ arguments: [String]) throws(CommandFailure) -> [String] {
        if arguments.count >= 2, arguments[0] == "--home" {
            try adopt(home: arguments[1])
            return Array(arguments.dropFirst(2))
        }
        if let first = arguments.first, first.hasPrefix("--home=") {
            try adopt(home: String(first.dropFirst("--home=".count)))
            return Array(arguments.dropFirst())
        }
        return arguments
    }

    private static func adopt(home: String) throws(CommandFailure) {
        guard !home.isEmpty else { throw CommandFailure(RuntimePaths.emptyHome, exitCode: 64) }
        setenv("BACKGROUNDER_HOME", RuntimePaths.absolute(home), 1)
    }
}
