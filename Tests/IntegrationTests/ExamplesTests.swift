import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// `make example-feed` and `make example-picture` as a script sees them: no terminal, no network but loopback.
@Suite(.sharing) struct ExamplesTests {
    private func run(_ script: String, home: String) async throws -> ProgramRun {
        // The fixture's home lends its environment.
        let service = try Service(TestConfiguration())
        let environment = service.environment.filter { $0.key != "BACKGROUNDER_HOME" }
        let run = try await ProgramRun.of(
            Products.repository("Packaging/examples/\(script).sh"),
            [Products.folderOfPrograms, home],
            environment: environment,
            within: 60
        )
        #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run)")
        #expect(!run.text.contains("\u{1B}"), "there is no terminal")
        // A service or a server that went on would have files there.
        #expect(!FileManager.default.fileExists(atPath: home))
        return run
    }

    /// Each of `parts` in `text`, one behind the other.
    private func expect(_ parts: [String], in text: String) {
        var rest = text[...]
        for part in parts {
            guard let range = rest.firstRange(of: part) else {
                Issue.record("no \(part.debugDescription) at its place in \(text)")
                return
            }
            rest = rest[range.upperBound...]
        }
    }

    @Test("The feed reader finds new items, counts those unseen, says how long it took, and is woken in both ways")
    func feedReader() async throws {
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

    @Test("An example removes no folder that is not its own")
    func foreignFolder() async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write("mine", to: "letter.txt")
        let script = Products.repository("Packaging/examples/feed-reader.sh")
        let run = try await ProgramRun.of(script, [Products.folderOfPrograms, scratch.path], environment: [:])
        #expect(run.exitCode == 64 && FileManager.default.fileExists(atPath: file), "\(run)")
    }

    @Test("The picture of the day is found by a fetch, brought by a transfer, and the next day's, too")
    func pictureOfTheDay() async throws {
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
