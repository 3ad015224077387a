import ArgumentParser
import BackgrounderAPI
import FoundationEssentials
import SystemSupport

struct AttachCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Watch and control the service live; q or Ctrl-C detaches.",
        discussion: """
            The service keeps running after you detach. If stdout is not a terminal, or \
            TERM is dumb or not set, prints plain lines.

            Keys: space plays or pauses, n and p are next and previous, left and right seek \
            by 10 s, + and - change the volume by 5. Up and down select an item of the \
            queue: Enter plays it, d removes it, K and J move it. 1 to 6 show one panel, l \
            the log; the same key shows all panels again. ? lists all keys, q detaches.

            If the locale (LC_ALL, LC_CTYPE or LANG) does not use UTF-8, and on the Linux \
            console, the panels are drawn in ASCII.

            EXAMPLES
              backgrounder attach                      # q detaches
              backgrounder attach > events.txt
            """
    )

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        if StandardOutput.isTerminal, !["", "dumb"].contains(terminal) {
            try await LiveView(client: service.client, log: service.paths.log).run()
        } else {
            try await PlainView(client: service.client).run()
        }
    }
}
