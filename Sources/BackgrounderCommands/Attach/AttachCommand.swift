import ArgumentParser
import BackgrounderAPI

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watch the service live; Ctrl-C or q detaches, and the service goes on.",
        discussion: """
            Keys: space plays or pauses, n next, p previous, q detaches. Without a
            terminal it prints plain lines.

            EXAMPLES
              backgrounder attach                      # q detaches, the service goes on
              backgrounder attach > events.txt
            """
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await Client.use(service.paths) { client in
            if Output.isTerminal {
                try await LiveView(client: client).run()
            } else {
                try await PlainView(client: client).run()
            }
        }
    }
}

extension Client {
    /// Attaches and gives each event to `body`; what comes waits in the socket while `body` does.
    ///
    /// - Returns: why it is over.
    func watch(_ body: (Event) throws -> Void) async -> CommandFailure {
        do {
            try await events(attach: true, observe: .seconds(1)) { event in
                try body(event)
                return true
            }
            return CommandFailure("the service ended", exitCode: 3)
        } catch let failure as CommandFailure {
            return failure
        } catch {
            return CommandFailure("\(error)")
        }
    }
}
