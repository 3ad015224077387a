package import BackgrounderAPI

/// The web and commands, as the sources say.
package struct LiveOrigin: FetchOrigin {
    private let web: WebOrigin
    private let commands: CommandOrigin

    package init(web: WebOrigin, commands: CommandOrigin) {
        self.web = web
        self.commands = commands
    }

    package func fetch(
        _ source: FetchDefinition,
        validators: FetchValidators?
    ) async throws(FetchFailure) -> FetchReply {
        if let url = source.url { return try await web.fetch(source, url, validators: validators) }
        return try await commands.fetch(source)
    }
}
