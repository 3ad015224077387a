import ArgumentParser
import BackgrounderAPI
import SystemSupport

/// The options of every command: which service it talks to.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder for all files of the service (default $BACKGROUNDER_HOME, if set).",
            valueName: "dir"
        )
    )
    var home: String?

    var paths: RuntimePaths { .addressed(home: home) }

    var client: Client { Client(paths) }

    func validate() throws {
        if home == "" { throw ValidationError(RuntimePaths.emptyHome) }
    }
}

/// The options of a command that prints a value.
struct ReadingOptions: ParsableArguments {
    @OptionGroup var service: ServiceOptions

    @Option(help: "Output format: table for people, json for scripts.")
    var format = OutputFormat.table

    /// Prints `value` as JSON, or as the text that `table` makes from it.
    func show<Value: Encodable>(_ value: Value, _ table: (Value) -> String) throws {
        switch format {
        case .json: try Output.json(value)
        case .table: try Output.print(table(value))
        }
    }

    /// Prints what the command did. JSON has only the values of the reply.
    func confirm(_ deed: String) throws {
        if format == .table { try Output.print(deed.withoutControlCharacters) }
    }

    var client: Client { service.client }
}

/// The setting of a switch on the command line.
enum Switch: String, FixedWord {
    case on, off

    var isOn: Bool { self == .on }
}

extension DesiredAccuracy: FixedWord {}
