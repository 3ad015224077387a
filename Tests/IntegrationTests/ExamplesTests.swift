import Foundation
import TestSupport
import Testing

/// `make example-feed` and `make example-picture` without a terminal and with only the loopback network.
@Suite(.sharing) struct ExamplesTests {
    private func run(_ script: String, home: String, within seconds: Double = 60) async throws -> ProgramRun {
        // Used only for its environment.
        let service = try Service(TestConfiguration())
        let environment = service.environment.filter { $0.key != "BACKGROUNDER_HOME" }
        let run = try await ProgramRun.of(
            Products.repository("Packaging/examples/\(script).sh"),
            [Products.folderOfPrograms, home],
            environment: environment,
            within: seconds
        )
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        #expect(!run.text.contains("\u{1B}"), "escape sequences without a terminal")
        // A service or a server left running would keep files there.
        #expect(!FileManager.default.fileExists(atPath: home))
        return run
    }

    /// Expects `parts` in `text` in this order.
    private func expect(_ parts: [String], in text: String) {
        var rest = text[...]
        for part in parts {
            guard let range = rest.firstRange(of: part) else {
                Issue.record("\(part.debugDescription) is missing or out of order in \(text)")
                return
            }
            rest = rest[range.upperBound...]
        }
    }

    @Test func `the feed reader finds new items, counts the unseen ones, and is woken in both ways`() async throws {
        let scratch = try ScratchDirectory()
        let text = try await run("feed-reader", home: scratch.file("feed")).text
        expect(
            [
                "fetch simulate news", "New data was fetched.", "No new data found.", "day 4", "New data was fetched.",
                "Ferry runs every hour on Sundays", "fetch open news", "Background Fetch Duration: ", "day 5",
                "first backgrounderd --launch-for-fetch news: exit 0",
                "second backgrounderd --launch-for-fetch news: exit 3",
            ],
            in: text
        )
    }

    @Test func `the stops of a city walk speak into one file`() async throws {
        let scratch = try ScratchDirectory()
        let text = try await run("city-walk", home: scratch.file("tour"), within: 180).text
        let stops = ["Harbour station", "Quay", "Footbridge", "Market square", "Customs house"]
        expect(["place replay"] + stops.map { "say fired: \($0)." } + ["place log"] + stops + ["5 stories, "], in: text)
        let output = try await Tool.run("soxi", "-D", scratch.file("tour.wav"))
        let seconds = String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(Double(seconds) ?? 0 > 20, "\(seconds)")
    }

    @Test func `a fleet of three buses appears in the list and on the map, obeys, and ends`() async throws {
        let scratch = try ScratchDirectory()
        // PostgreSQL runs as another user if this one is root.
        try await Tool.run("chmod", "755", scratch.path)
        let script = Products.repository("Packaging/examples/fleet.sh")
        let environment = try Service(TestConfiguration()).environment.filter { $0.key != "BACKGROUNDER_HOME" }
        func run(_ action: String) async throws -> ProgramRun {
            try await ProgramRun.of(
                script,
                [Products.folderOfPrograms, scratch.file("fleet"), action, "3"],
                environment: environment,
                within: 120
            )
        }
        let start = try await run("start")
        #expect(start.exitCode == 0, "\(start)")
        #expect(!start.text.contains("\u{1B}"), "escape sequences without a terminal")
        expect(["fleet collect", "MACHINE  STATE", "bus1     online", "bus3     online", "A map"], in: start.text)
        for bus in 1...3 { #expect(start.text.contains("\nbus\(bus): done\n"), "\(start)") }
        let address = try #require(start.text.firstMatch(of: /The map: (http:\S+)/)?.1)
        let positions = try JSONValue(parsing: try await Tool.run("curl", "-sf", "\(address)positions"))
        #expect(Set((positions.array ?? []).compactMap { $0["machine"]?.string }) == ["bus1", "bus2", "bus3"])
        let page = String(decoding: try await Tool.run("curl", "-sf", String(address)), as: UTF8.self)
        #expect(page.contains("leaflet.js"))
        _ = try await Tool.run("curl", "-sf", "\(address)leaflet/leaflet.js")
        let stop = try await run("stop")
        #expect(stop.text == "stopped\n", "\(stop)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("fleet")))
        let refused = try? await Tool.run("curl", "-sf", String(address))
        #expect(refused == nil, "the map has ended")
    }

    @Test func `an example does not remove a folder that it did not create`() async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write("mine", to: "letter.txt")
        let script = Products.repository("Packaging/examples/feed-reader.sh")
        let run = try await ProgramRun.of(script, [Products.folderOfPrograms, scratch.path], environment: [:])
        #expect(run.exitCode == 64, "\(run)")
        #expect(FileManager.default.fileExists(atPath: file), "\(run)")
    }

    @Test func `each day a fetch finds the picture of the day and a transfer downloads it`() async throws {
        let scratch = try ScratchDirectory()
        let text = try await run("picture-of-the-day", home: scratch.file("picture")).text
        expect(
            [
                "New data was fetched.", "done", "pictures/day-3.png", "No new data found.", "day 4",
                "New data was fetched.", "done", "pictures/day-4.png", "transfer list",
            ],
            in: text
        )
    }
}
