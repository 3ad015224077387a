import ArgumentParser
import BackgrounderAPI

/// Which service is meant; every command has it.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory that holds everything of one service (or BACKGROUNDER_HOME).",
            valueName: "dir"
        )
    )
    var home: String?

    var paths: RuntimePaths { .current(home: home) }

    func validate() throws {
        if home == "" { throw ValidationError(RuntimePaths.emptyHome) }
    }
}

/// A command that reads.
struct ReadingOptions: ParsableArguments {
    @OptionGroup var service: ServiceOptions

    @Option(help: "table for people, json for scripts.")
    var format = OutputFormat.table

    /// Prints `value` as JSON, or as what `table` makes of it.
    func show<Value: Encodable>(_ value: Value, _ table: (Value) -> String) throws {
        switch format {
        case .json: try Output.json(value)
        case .table: try Output.print(table(value))
        }
    }

    func use<Result>(_ body: (Client) async throws -> Result) async throws -> Result {
        try await Client.use(service.paths, body)
    }
}

enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off

    var isOn: Bool { self == .on }
}

extension DesiredAccuracy: ExpressibleByArgument {}
