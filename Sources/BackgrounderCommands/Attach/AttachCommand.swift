import ArgumentParser
import BackgrounderAPI

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watch the service live; q or Ctrl-C detaches.",
        discussion: """
            The service keeps running after you detach. Keys: space plays or pauses, n is
            next, p is previous, q detaches. If stdout is not a terminal, prints plain
            lines.

            EXAMPLES
              backgrounder attach                      # q detaches
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
    /// Attaches, and calls `body` with each event. While `body` runs, further events wait in the socket.
    ///
    /// - Returns: The reason for the end.
    func watch(_ body: (Event) throws -> Void) async -> CommandFailure {
        do {
            try await events(attach: true, observe: .seconds(1)) { event in
                try body(event)
                return true
            }
            return CommandFailure("lost the connection to the service", exitCode: 3)
        } catch let failure as CommandFailure {
            return failure
        } catch {
            return CommandFailure("\(error)")
        }
    }
}
