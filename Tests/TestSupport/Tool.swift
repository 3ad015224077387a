package import Foundation

/// Programs of the search path that tests need; one that is missing fails the test.
package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs a program to its end and gives its standard output. An exit code other than 0 throws.
    @discardableResult
    package static func run(_ words: String...) async throws -> Data { try await run(words: words) }

    @discardableResult
    package static func run(words: [String]) async throws -> Data {
        let run = try await ProgramRun.of("/usr/bin/env", words, within: 120)
        guard run.exitCode == 0 else { throw Failure(description: run.description) }
        return run.output
    }

    /// Starts a program that goes on until it is ended, with `environment` beside the test's own.
    package static func start(_ words: String..., environment: [String: String] = [:]) throws -> ForegroundProcess {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return try ForegroundProcess("/usr/bin/env", words, environment: variables)
    }
}
