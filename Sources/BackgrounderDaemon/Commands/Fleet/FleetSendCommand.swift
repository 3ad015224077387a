import ArgumentParser
import FleetCommands

/// `backgrounderd fleet-send`: sends another command to machines.
struct FleetSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-send",
        abstract: "Send a command to machines of a fleet.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder fleet send --broker <url> (--to <id,...> | --group <name>) <command> [<value>] [<options>]"
            : nil,
        discussion: """
            The commands are play, pause, next, volume LEVEL, fetch SOURCE, report (send the position) and status (send the \
            status document).

            EXAMPLES
              backgrounder fleet send --broker mqtts://broker.example --to bus12 pause \\
                --wait 10s
              backgrounder fleet send --broker mqtts://broker.example --group red \\
                volume 60%
              backgrounder fleet send --broker mqtts://broker.example --group red fetch news
            """
    )

    enum Name: String, ExpressibleByArgument, CaseIterable {
        case play, pause, next, volume, fetch, report, status
    }

    @OptionGroup var target: FleetTarget
    @Argument(help: ArgumentHelp("play, pause, next, volume, fetch, report or status.", valueName: "command"))
    var command: Name
    @Argument(help: ArgumentHelp("Level for volume, such as 60%, or source for fetch.", valueName: "value"))
    var value: String?

    func validate() throws { _ = try order() }

    private func order() throws -> FleetCommand.Order {
        switch (command, value) {
        case (.play, nil): return .play
        case (.pause, nil): return .pause
        case (.next, nil): return .next
        case (.report, nil): return .report
        case (.status, nil): return .status
        case (.fetch, let source?): return .fetch(source: source)
        case (.fetch, nil): throw ValidationError("fetch needs the name of a source")
        case (.volume, let text):
            guard let level = text.flatMap(FleetCommand.volume) else {
                throw ValidationError("volume needs a level; use 0% to 100%")
            }
            return .volume(level)
        case (_, let value?):
            throw ValidationError("\(command.rawValue) takes no value; omit \(value.debugDescription)")
        }
    }

    func run() async throws { try await target.send(try order()) }
}
