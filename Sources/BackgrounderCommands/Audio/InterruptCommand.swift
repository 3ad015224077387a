import ArgumentParser
import BackgrounderAPI
import SystemSupport

struct InterruptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interrupt",
        abstract: "Play an announcement now, over the music or instead of it.",
        discussion: """
            The music pauses and then resumes exactly where it stopped; with --duck, it \
            keeps playing at a lower volume. Announcements play one at a time, the highest \
            priority first, even while the player is paused or stopped. The command \
            returns immediately. `audio stop` discards all announcements.

            EXAMPLES
              backgrounder audio interrupt doors-close.wav
              backgrounder audio interrupt next-stop.mp3 --duck 20%
              backgrounder audio interrupt evacuate.wav --priority 10
            """
    )
    @Argument(help: ArgumentHelp("Audio file to play.", valueName: "file"), completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp("Keep the music playing, at this share of its volume.", valueName: "0%...100%"),
        transform: share
    )
    var duck: Double?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher priorities play first, equal ones in order (default 0).", valueName: "n"),
        transform: wholeNumber("a number such as 10")
    )
    var priority = 0
    @OptionGroup var reading: ReadingOptions

    func run() async throws {
        let body = InterruptRequest(item: RuntimePaths.absolute(file), duck: duck, priority: priority)
        let status = try await reading.client.call(Routes.interrupt, body: body)
        try reading.show(status) { $0.lines.printable }
    }
}

/// Parses a share such as `20%` or `0.2`. A bare number above 1 is rejected because its meaning is unclear.
@Sendable private func share(_ text: String) throws -> Double {
    let isPercent = text.hasSuffix("%")
    let number = Double(isPercent ? String(text.dropLast()) : text).map { isPercent ? $0 / 100 : $0 }
    guard let number, (0...1).contains(number) else {
        throw ValidationError("\(text.debugDescription) is not a valid share of the volume; use 0% to 100%")
    }
    return number
}
