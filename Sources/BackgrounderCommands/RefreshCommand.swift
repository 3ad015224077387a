import ArgumentParser
import BackgrounderAPI

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "The switch for fetching in the background, of all sources or of one.",
        discussion: """
            available: it may run by itself. denied: it is switched off. restricted: fetch
            is not in the modes of the configuration, and nobody is attached.

            EXAMPLES
              backgrounder refresh                     # how they stand
              backgrounder refresh off news
              backgrounder refresh on
            """
    )
    @Argument(help: "on or off; without it, how they stand.")
    var state: Switch?
    @Argument(help: "The name of a source; all without it.", completion: NameCompletion.sources)
    var name: String?
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let reply = try await reading.use { client in
            guard let state else { return try await client.call(Routes.refresh) }
            return try await client.call(Routes.changeRefresh, body: RefreshChange(enabled: state.isOn, source: name))
        }
        try reading.show(reply) { $0.table }
    }
}

struct QuitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "Stop a source from running in the background until you open it or attach.",
        discussion: """
            As a swipe out of the switcher does to an app. It survives a restart.

            EXAMPLES
              backgrounder quit news
              backgrounder fetch open news             # and it runs again
            """
    )
    @OptionGroup var source: SourceArgument
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let change = RefreshChange(enabled: false, source: source.name, untilOpen: true)
        let reply = try await reading.use { try await $0.call(Routes.changeRefresh, body: change) }
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
