import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// Loads configurations from a file in a temporary folder.
struct ConfigurationFixture {
    let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    func load(
        _ yaml: String,
        environment: [String: String] = [:],
        options: [String: (option: String, value: String?)] = [:]
    ) throws -> DaemonConfiguration {
        let file = try scratch.write(yaml, to: "config.yaml")
        chmod(file, 0o600)
        return try ConfigurationSource(
            file: file,
            standardFile: "/nowhere/config.yaml",
            environment: environment,
            options: options,
            directory: scratch.path
        ).load()
    }

    /// Returns the faults of a file without the path of its folder.
    func faults(
        _ yaml: String,
        environment: [String: String] = [:],
        options: [String: (option: String, value: String?)] = [:]
    ) throws -> [String] {
        let error = try #require(throws: ConfigurationError.self) {
            try load(yaml, environment: environment, options: options)
        }
        return error.faults.map { $0.description.replacing(scratch.path + "/", with: "") }
    }
}
