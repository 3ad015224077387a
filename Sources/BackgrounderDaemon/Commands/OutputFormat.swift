import ArgumentParser
import SystemSupport

/// The output format of a command that needs no service.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, json

    init?(argument: String) { self.init(ignoringCase: argument) }
}
