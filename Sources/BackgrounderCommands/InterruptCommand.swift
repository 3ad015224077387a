import ArgumentParser
import BackgrounderAPI

struct InterruptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interrupt",
        abstract: "Play an announcement now, over the music or instead of it.",
        discussion: """
            The music is held and goes on with the very next note; with --duck it
            goes on beneath. Announcements wait for each other, the higher priority
            first, and are heard also while the player is paused or stopped. The
            command returns at once; `audio stop` silences all of them.

            EXAMPLES
              backgrounder audio interrupt doors-close.wav
              backgrounder audio interrupt next-stop.mp3 --duck 20%
              backgrounder audio interrupt evacuate.wav --priority 10
            """
    )
    @Argument(help: ArgumentHelp("The file to play.", valueName: "file"), completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp("The music goes on at this part of its loudness.", valueName: "0%...100%"),
        transform: share
    )
    var duck: Double?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The higher one is first; of equal ones the earlier.", valueName: "n"),
        transform: wholeNumber("a whole number, such as 10")
    )
    var priority = 0
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let body = InterruptRequest(item: RuntimePaths.absolute(file), duck: duck, priority: priority)
        let status = try await reading.use { try await $0.call(Routes.interrupt, body: body) }
        try reading.show(status) { $0.lines.printable }
    }
}

/// A part of a whole: `20%`, or `0.2`. A bare number above 1 is refused: nobody knows whether 20 is much or little.
@Sendable private func share(_ text: String) throws -> Double {
    let isPercent = text.hasSuffix("%")
    let number = Double(isPercent ? String(text.dropLast()) : text).map { isPercent ? $0 / 100 : $0 }
    guard let number, (0...1).contains(number) else {
        throw ValidationError("\(text.debugDescription) is no part of a loudness: give 0% to 100%")
    }
    return number
}
