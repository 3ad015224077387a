package import Foundation

/// Runs programs of the search path. A missing program fails the test.
package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs a program to its end and returns its standard output; throws if the exit code is not 0.
    @discardableResult
    package static func run(_ words: String...) async throws -> Data { try await run(words: words) }

    @discardableResult
    package static func run(words: [String]) async throws -> Data {
        let run = try await ProgramRun.of("/usr/bin/env", words, within: 120)
        guard run.exitCode == 0 else { throw Failure(description: run.description) }
        return run.output
    }

    /// Starts a program that runs until it is ended, with `environment` added to the test's own.
    package static func start(_ words: String..., environment: [String: String] = [:]) throws -> ForegroundProcess {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return try ForegroundProcess("/usr/bin/env", words, environment: variables)
    }
}
