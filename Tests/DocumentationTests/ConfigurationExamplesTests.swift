import Foundation
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The configuration files in the pages are valid, and the defaults in `docs/configuration.md` are the real ones.
@Suite(.computing) struct ConfigurationExamplesTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func load(file: String?) throws -> DaemonConfiguration {
        try ConfigurationSource(
            file: file,
            standardFile: scratch.path + "/config.yaml",
            environment: [:],
            options: [:],
            directory: scratch.path
        ).load()
    }

    private func load(_ lines: [String], named name: String) throws -> DaemonConfiguration {
        let file = try scratch.write(lines.joined(separator: "\n"), to: name)
        chmod(file, 0o600)
        return try load(file: file)
    }

    @Test(arguments: Repository.pages)
    func `each example of a configuration file is valid`(page: MarkdownPage) throws {
        for block in page.blocks where block.language == "yaml" {
            // The page with the defaults comments out the description, which has none.
            let needsDescription = block.lines.contains { $0.contains("# usageDescription:") }
            let lines = needsDescription ? block.lines.map { $0.replacing("# usage", with: "usage") } : block.lines
            #expect(throws: Never.self, "\(page.path):\(block.line)") { try load(lines, named: "example.yaml") }
        }
    }

    /// The value of every key as text.
    private static let values: [@Sendable (DaemonConfiguration) -> String] = [
        { "\($0.value(Keys.modes))" }, { "\($0.value(Keys.source))" }, { "\($0.value(Keys.desiredAccuracy))" },
        { "\($0.value(Keys.distanceFilter))" }, { "\($0.value(Keys.maximumAccuracy) as Any)" },
        { "\($0.value(Keys.jitterGuard))" }, { "\($0.value(Keys.driver))" }, { "\($0.value(Keys.queue))" },
        { "\($0.value(Keys.autoplay))" }, { "\($0.value(Keys.latency))" }, { "\($0.value(Keys.format) as Any)" },
        { "\($0.value(Keys.observerInterval))" }, { "\($0.value(Keys.musicDirectory) as Any)" },
        { "\($0.value(Keys.mpdListen))" }, { "\($0.value(Keys.mpdPassword) as Any)" },
        { "\($0.value(Keys.mpdPasswords))" }, { "\($0.value(Keys.mpdDefaultPermissions) as Any)" },
        { "\($0.value(Keys.webListen))" }, { "\($0.value(Keys.webHosts))" },
        { "\($0.value(Keys.webCertificate) as Any)" }, { "\($0.value(Keys.webKey) as Any)" },
        { "\($0.value(Keys.webMap) as Any)" }, { "\($0.value(Keys.webTiles) as Any)" },
        { "\($0.value(Keys.controlGroup) as Any)" },
        { "\($0.value(Keys.controlExecute))" }, { "\($0.value(Keys.taskEnvironment))" },
        { "\($0.value(Keys.placeImports))" }, { "\($0.value(Keys.speechVoice) as Any)" },
        { "\($0.value(Keys.speechSpeed) as Any)" }, { "\($0.value(Keys.speechCache))" },
        { "\($0.value(Keys.transferRoots))" }, { "\($0.value(Keys.allowHTTP))" },
        { "\($0.value(Keys.retryMaximum))" }, { "\($0.value(Keys.allowPrivate))" },
        { "\($0.value(Keys.syncInterval))" }, { "\($0.value(Keys.retention))" },
        { "\($0.value(Keys.maximumSize) as Any)" }, { "\($0.value(Keys.logLevel))" },
        { "\($0.value(Keys.logProgress))" }, { "\($0.value(Keys.metricsTextfile) as Any)" },
        { "\($0.value(Keys.publishStartWithin))" }, { "\($0.value(Keys.publishPace) as Any)" },
        { "\($0.value(Keys.fleetItems) as Any)" }, { "\($0.value(Keys.fleetItemURL) as Any)" },
        { "\($0.value(Keys.fleetKeys))" },
    ]

    @Test func `the example in docs/configuration.md states the default of every key`() throws {
        let page = try #require(Repository.pages.first { $0.path == "docs/configuration.md" })
        let block = try #require(page.blocks.first { $0.language == "yaml" })
        let lines = block.lines.map { $0.replacing("# usage", with: "usage") }
        let (documented, fallback) = (try load(lines, named: "defaults.yaml"), try load(file: nil))
        // location.usageDescription has no default.
        #expect(Self.values.count == Keys.all.count - 1)
        for value in Self.values {
            #expect(value(documented) == value(fallback))
        }
        for key in Keys.all {
            let name = key.name.split(separator: ".").last.map(String.init) ?? ""
            let isThere = block.lines.contains { $0.contains("\(name):") }
            #expect(isThere, "\(key.name) is not in the example")
        }
    }
}
