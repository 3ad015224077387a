package import BackgrounderAPI

/// An origin that fetches each source from its URL or with its command.
package struct LiveOrigin: FetchOrigin {
    private let web: WebOrigin
    private let commands: CommandOrigin

    /// Creates an origin from the one for URLs and the one for commands.
    package init(web: WebOrigin, commands: CommandOrigin) {
        self.web = web
        self.commands = commands
    }

    /// Fetches `source` with the origin for it; commands have no validators.
    package func fetch(
        _ source: FetchDefinition,
        validators: FetchValidators?
    ) async throws(FetchFailure) -> FetchReply {
        if let url = source.url { return try await web.fetch(source, url, validators: validators) }
        return try await commands.fetch(source)
    }
}
