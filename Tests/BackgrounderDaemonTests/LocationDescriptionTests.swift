import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The location mode and `location.usageDescription`, without which a configuration must not track.
@Suite struct LocationDescriptionTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func load(
        _ yaml: String?,
        environment: [String: String] = [:],
        source: String? = nil
    ) throws -> DaemonConfiguration {
        if let yaml { try scratch.write(yaml, to: "config.yaml") }
        return try ConfigurationSource(
            file: nil,
            standardFile: scratch.file("config.yaml"),
            environment: environment,
            options: [Keys.source.name: ("--source", source)],
            directory: scratch.path
        ).load()
    }

    private func fault(
        _ yaml: String,
        environment: [String: String] = [:],
        source: String? = nil
    ) throws -> String {
        let error = try #require(throws: ConfigurationError.self) {
            try load(yaml, environment: environment, source: source)
        }
        return error.description.replacing(scratch.path + "/", with: "")
    }

    @Test(arguments: [
        nil, "", "\n", "# modes: [location]\n", "---\n", "--- # nothing\n...\n", "null", "{}", "location:\naudio: {}\n",
    ])
    func `no file and a file without keys track without a description`(yaml: String?) throws {
        for source in [nil, "gpsd://bus"] {
            let configuration = try load(yaml, environment: ["BACKGROUNDER_LOG_LEVEL": "debug"], source: source)
            #expect(configuration.locationOffReason == nil)
            #expect(configuration.declaredModes == [.audio, .location])
            #expect(configuration.warnings.isEmpty)
        }
    }

    @Test(arguments: ["audio: {autoplay: true}", "modes: [audio]", "modes: [audio, fetch]\nlog: {level: debug}"])
    func `a file that does not mention location turns the location mode off`(yaml: String) throws {
        let configuration = try load(yaml)
        #expect(
            configuration.locationOffReason
                == "no location.usageDescription in \(scratch.file("config.yaml")); add a sentence that says why this machine is tracked"
        )
        #expect(!configuration.declaredModes.contains(.location))
        #expect(configuration.declaredModes.contains(.audio))
        #expect(configuration.warnings.isEmpty)
    }

    @Test func `a description in a file or a variable turns the location mode on`() throws {
        let yaml = "location: {usageDescription: Finds the bus}"
        #expect(try load(yaml).locationOffReason == nil)
        #expect(try load(yaml).declaredModes == [.audio, .location])
        let variable = ["BACKGROUNDER_LOCATION_USAGE_DESCRIPTION": "Finds the bus"]
        #expect(try load("modes: [location]", environment: variable).locationOffReason == nil)
    }

    @Test func `settings of a location mode that is off are a warning`() throws {
        let configuration = try load("modes: [audio]\nlocation:\n  distanceFilter: 5\n  jitterGuard: false")
        #expect(configuration.locationOffReason != nil)
        #expect(
            configuration.warnings == [
                "\(scratch.file("config.yaml")):3: location.distanceFilter has no effect, because the location mode needs location.usageDescription, a sentence that says why this machine is tracked"
            ]
        )
    }

    @Test func `a configuration that asks for location without a description is refused where it asks`() throws {
        let words =
            "the location mode needs location.usageDescription, a sentence that says why this machine is tracked"
        let hint = "; to turn the mode off, set modes: [audio]"
        let file = "log: {level: info}\n"
        #expect(try fault("modes: [audio, location]") == "config.yaml:1: \(words)")
        #expect(try fault(file + "location: {distanceFilter: 5}") == "config.yaml:2: \(words)\(hint)")
        #expect(try fault(file, source: "gpsd://bus") == "--source: \(words)\(hint)")
        #expect(try fault("modes: [audio]", source: "gpsd://bus") == "--source: \(words)")
        #expect(
            try fault(file, environment: ["BACKGROUNDER_MODES": "location"]) == "BACKGROUNDER_MODES: \(words)"
        )
        #expect(
            try fault(file, environment: ["BACKGROUNDER_LOCATION_SOURCE": "gpsd://bus"])
                == "BACKGROUNDER_LOCATION_SOURCE: \(words)\(hint)"
        )
    }

    @Test func `a misspelt description is the only fault`() throws {
        let yaml = "modes: [location]\nlocation: {usagedescription: Finds the bus}"
        #expect(
            try fault(yaml)
                == "config.yaml:2: unknown key location.usagedescription; did you mean usageDescription?"
        )
    }
}
