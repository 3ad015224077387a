import ArgumentParser
import FleetCommands
import FoundationEssentials
import SystemSupport
import WebSupport

/// `backgrounderd fleet-announce`: sends an announcement to machines.
struct FleetAnnounceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-announce",
        abstract: "Play an item, or say a text, on machines of a fleet.",
        usage: DaemonCommand.isForCommand
            ? "backgrounder fleet announce --broker <url> (--to <id,...> | --group <name>) (<item> | --say <text>) [<options>]"
            : nil,
        discussion: """
            ITEM is the name of a file below fleet.items of the machines. Without --wait, the command ends when the broker \
            has the announcement.

            EXAMPLES
              backgrounder fleet announce --broker mqtts://broker.example \\
                --to bus12,bus14 doors.wav --wait 10s
              backgrounder fleet announce --broker mqtts://broker.example --group red \\
                --say 'We leave in ten minutes' --at +30s --duck 20%
            """
    )

    @OptionGroup var target: FleetTarget
    @Argument(help: ArgumentHelp("Name of an item, such as stops/harbour.wav.", valueName: "item"))
    var item: String?
    @Option(help: ArgumentHelp("Say this text instead.", valueName: "text"))
    var say: String?
    @Option(help: ArgumentHelp("Begin at this time: ISO 8601, or +30s from now.", valueName: "time"))
    var at: String?
    @Option(help: ArgumentHelp("Level of the music meanwhile, such as 20% (default: it pauses).", valueName: "level"))
    var duck: String?
    @Option(help: ArgumentHelp("Announcements with a higher number come first (default 0).", valueName: "number"))
    var priority: Int?
    @Option(help: ArgumentHelp("Digest that the item must have (64 hexadecimal digits).", valueName: "digest"))
    var sha256: String?

    func validate() throws {
        _ = try order()
        _ = try time()
    }

    private func order() throws -> FleetCommand.Order {
        let level = duck.map { text in (text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : Double(text)) }
        if let level, level.map({ (0...1).contains($0) }) != true {
            throw ValidationError("--duck \(duck ?? "") is not a level; use 0% to 100%")
        }
        let sound = FleetCommand.Sound(duck: level ?? nil, priority: priority ?? 0)
        if let sha256, !SHA256.isDigest(sha256.lowercased()) {
            throw ValidationError("--sha256 \(sha256) is not a digest; use 64 hexadecimal digits")
        }
        switch (item, say) {
        case (let item?, nil):
            guard ItemName.isValid(item) else {
                throw ValidationError(
                    "\(item.debugDescription) is not the name of an item; use a path below fleet.items"
                )
            }
            return .announce(item: item, sha256: sha256?.lowercased(), sound)
        case (nil, let text?):
            guard text.contains(where: { !$0.isWhitespace }) else { throw ValidationError("the text to say is empty") }
            return .say(text: text, sound)
        case (nil, nil): throw ValidationError("nothing to announce; name an item, or use --say TEXT")
        case (_?, _?): throw ValidationError("an item and --say exclude each other; use one of them")
        }
    }

    private func time() throws -> Date? {
        guard let at else { return nil }
        if at.hasPrefix("+"), let delay = Durations.duration(String(at.dropFirst())) {
            return Date(timeIntervalSinceNow: delay.seconds)
        }
        guard let date = ISO8601.date(at) else {
            throw ValidationError("\(at.debugDescription) is not a valid time; use ISO 8601, or +30s from now")
        }
        guard date > Date() else { throw ValidationError("--at \(at) has passed; use a later time") }
        return date
    }

    func run() async throws { try await target.send(try order(), at: try time()) }
}
