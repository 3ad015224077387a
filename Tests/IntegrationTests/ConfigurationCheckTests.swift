import Foundation
import TestSupport
import Testing

/// `backgrounderd --check`, which needs no service.
@Suite(.sharing) struct ConfigurationCheckTests {
    private func check(
        _ service: Service,
        _ arguments: [String] = ["--check"],
        adding variables: [String: String] = [:]
    ) async throws -> ProgramRun {
        let environment = service.environment.merging(variables) { $1 }
        return try await ProgramRun.of(Products.backgrounderd, arguments, environment: environment)
    }

    @Test(arguments: ["--check", "--check-configuration"])
    func `a valid configuration is confirmed in one line, and nothing is created`(option: String) async throws {
        let service = try Service(TestConfiguration())
        let run = try await check(service, [option])
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text == "\(service.file("config.yaml")) is valid\n")
        #expect(run.errors.isEmpty, "\(run)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: service.home) == ["config.yaml"])
    }

    @Test func `without a file the defaults are confirmed`() async throws {
        let service = try Service(TestConfiguration())
        try FileManager.default.removeItem(atPath: service.file("config.yaml"))
        let run = try await check(service)
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text == "no \(service.file("config.yaml")); the defaults are valid\n")
    }

    @Test(arguments: ["--check", "--check-configuration"])
    func `each fault of a configuration is printed in its own line`(option: String) async throws {
        let service = try Service(TestConfiguration())
        try service.configure(yaml: (1...12).map { "wrong\($0): 1\n" }.joined())
        let run = try await check(service, [option], adding: ["BACKGROUNDER_LOG_LEVEL": "loud"])
        #expect(run.exitCode == 1, "\(run)")
        #expect(run.text.isEmpty)
        let lines = run.errors.split(separator: "\n")
        try #require(lines.count == 13, "\(run)")
        #expect(lines[0].hasPrefix("backgrounderd: BACKGROUNDER_LOG_LEVEL: log.level: \"loud\" is not valid; use "))
        for (number, line) in lines.enumerated().dropFirst() {
            let place = "\(service.file("config.yaml")):\(number)"
            #expect(line.hasPrefix("backgrounderd: \(place): unknown key wrong\(number); "), "\(line)")
        }
    }

    @Test func `a missing file that an option names is a fault`() async throws {
        let service = try Service(TestConfiguration())
        let run = try await check(service, ["--check", "--config", service.file("none.yaml")])
        run.expectRefusal(1, ["backgrounderd: \(service.file("none.yaml")): cannot open the file"])
    }

    @Test func `a variable without a meaning is a warning of a valid configuration`() async throws {
        let service = try Service(TestConfiguration())
        let run = try await check(service, adding: ["BACKGROUNDER_STORE_RETENSION": "1y"])
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.text == "\(service.file("config.yaml")) is valid\n")
        let words = "BACKGROUNDER_STORE_RETENSION: unknown variable; did you mean BACKGROUNDER_STORE_RETENTION?\n"
        #expect(run.errors == "backgrounderd: warning: \(words)")
    }

    @Test func `a result that cannot be written is a failure`() async throws {
        let service = try Service(TestConfiguration())
        let run = try await ProgramRun.of(
            Programs.shell,
            ["-c", "exec \"$0\" --check > /dev/full", Products.backgrounderd],
            environment: service.environment
        )
        run.expectRefusal(1, ["backgrounderd: ", "No space left on device"])
    }
}
