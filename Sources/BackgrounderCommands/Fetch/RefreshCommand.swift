import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Turn background fetches on or off, for all sources or for one.",
        discussion: """
            Prints the state of each source. available: the source may be fetched in the \
            background. denied: it is switched off. restricted: fetch is not in the modes \
            of the configuration, and no client is attached.

            EXAMPLES
              backgrounder refresh                     # print the states
              backgrounder refresh off news
              backgrounder refresh on
            """
    )
    @Argument(help: "New setting; without it, prints the states.")
    var state: Switch?
    @Argument(help: "Name of a source (default all).", completion: NameCompletion.sources)
    var name: String?
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let client = reading.client
        let reply =
            if let state {
                try await client.call(Routes.changeRefresh, body: RefreshChange(enabled: state.isOn, source: name))
            } else {
                try await client.call(Routes.refresh)
            }
        try reading.show(reply) { $0.table }
    }
}

struct QuitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Suspend a source in the background until you open it or attach.",
        discussion: """
            Like swiping an app out of the app switcher. This survives a restart.

            EXAMPLES
              backgrounder quit news
              backgrounder fetch open news             # lets it run again
            """
    )
    @OptionGroup var source: SourceArgument
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let change = RefreshChange(enabled: false, source: source.name, untilOpen: true)
        let reply = try await reading.client.call(Routes.changeRefresh, body: change)
        try reading.show(reply) { $0.table }
    }
}

extension RefreshReply {
    fileprivate var table: String {
        var table = Table([("SOURCE", .left), ("REFRESH", .left)])
        table.add(["all", status.rawValue])
        for source in sources { table.add([source.source, source.status.rawValue]) }
        return table.render()
    }
}
