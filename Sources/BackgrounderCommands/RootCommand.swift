package import ArgumentParser
import BackgrounderAPI
import Glibc
import SystemSupport

/// The `backgrounder` command, which starts and controls the service.
package struct RootCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: Backgrounder.commandName,
        abstract: "Background modes for machines without a screen.",
        discussion: """
            The service, backgrounderd, tracks the location, plays audio, and runs tasks, \
            fetches and transfers in the background. This command starts and controls it.

            EXAMPLES
              backgrounder start --source gpsd://localhost:2947
              backgrounder attach                      # watch it live; q detaches
              backgrounder open                        # the same and a map in a browser
              backgrounder location accuracy hundredMeters
              backgrounder track --last 5 --format json
              backgrounder queue add ~/music && backgrounder audio play
              backgrounder stop

            EXIT STATUS
              0   success
              1   failure
              3   the service is not running, or the connection to it was lost
              4   no such item
              64  invalid arguments
            """,
        version: Backgrounder.version,
        subcommands: [
            StartCommand.self, StopCommand.self, RestartCommand.self, StatusCommand.self, AttachCommand.self,
            DoctorCommand.self, LogCommand.self, ReloadCommand.self, LocationCommand.self, TrackCommand.self,
            PlaceCommand.self, AudioCommand.self, QueueCommand.self, TaskCommand.self, FetchCommand.self,
            RefreshCommand.self, QuitCommand.self,
            TransferCommand.self, PushCommand.self, PublishCommand.self, FleetCommand.self, OpenCommand.self,
            BackupCommand.self,
            RestoreCommand.self,
        ]
    )

    /// Required by `ParsableCommand`.
    package init() {}

    /// Parses the arguments of this process, runs the command, and exits with its status. Call it on the main thread.
    package static func runAndExit() -> Never {
        occupyStandardDescriptors()
        signal(SIGPIPE, SIG_IGN)
        MainLoop.run { await runCommand() }
    }

    private static func runCommand() async -> Never {
        var arguments = Array(CommandLine.arguments.dropFirst())
        do {
            arguments = try adoptLeadingHome(arguments)
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Glibc.exit(0)
        } catch let failure as CommandFailure {
            fail(failure.description, code: failure.exitCode)
        } catch {
            finish(error, of: arguments)
        }
    }

    /// Prints help and version to stdout, and any other error as one line to stderr.
    private static func finish(_ error: any Error, of arguments: [String]) -> Never {
        let code = exitCode(for: error).rawValue
        let text = message(for: error)
        guard code == 0 else {
            fail(code == 64 ? RejectedArguments(arguments).line(for: text) : ParserMessage.line(text), code: code)
        }
        do {
            try Output.print(text)
            Glibc.exit(0)
        } catch {
            fail("\(error)", code: 1)
        }
    }

    private static func fail(_ reason: String, code: Int32) -> Never {
        if !reason.isEmpty { Output.note("backgrounder: \(reason)") }
        Glibc.exit(code)
    }

    /// Removes a `--home` before the subcommand and sets `BACKGROUNDER_HOME` to it. A `--home` after the subcommand
    /// overrides it.
    private static func adoptLeadingHome(_ arguments: [String]) throws(CommandFailure) -> [String] {
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
