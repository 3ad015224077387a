import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watch the service live; q or Ctrl-C detaches.",
        discussion: """
            The service keeps running after you detach. Keys: space plays or pauses, n is \
            next, p is previous, q detaches. If stdout is not a terminal, prints plain \
            lines.

            EXAMPLES
              backgrounder attach                      # q detaches
              backgrounder attach > events.txt
            """
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let client = service.client
        if StandardOutput.isTerminal {
            try await LiveView(client: client).run()
        } else {
            try await PlainView(client: client).run()
        }
    }
}
