import ArgumentParser
import BackgrounderAPI
import SystemSupport

extension PlaceCommand {
    struct Simulate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "simulate",
            abstract: "Let the rules act as if something happened at a place now.",
            discussion: """
                All rules for the event act, also outside of their hours and again on the same \
                visit, and this does not count as a visit. Prints the outcome of each action. \
                With approach or dwell, rules of every time and distance act.

                EXAMPLES
                  backgrounder place simulate Harbour enter
                  backgrounder place simulate Harbour approach --format json
                """
        )
        @Argument(help: "Name or id of the place.", completion: NameCompletion.places) var place: String
        @Argument(help: "The event that is simulated.") var event: PlaceEventKind
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let client = reading.client
            let id = try await client.place(place).id
            // A fetch may take 30 s, and a text is rendered before.
            let simulated = try await client.call(
                Routes.simulatePlace,
                body: PlaceSimulation(event: event),
                id: id,
                patience: .seconds(60)
            )
            try reading.show(simulated) { event in
                guard !event.actions.isEmpty else {
                    return "No rule is for \(event.event.rawValue) at \(event.place)".withoutControlCharacters + "."
                }
                return event.actions.map { action in
                    (action.line + (action.detail.map { ": \($0)" } ?? "")).withoutControlCharacters
                }.joined(separator: "\n")
            }
        }
    }

    struct Rules: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rules",
            abstract: "List the rules of the configuration file, and why some do not work.",
            discussion: """
                EXAMPLES
                  backgrounder place rules
                  backgrounder place rules --format json
                """
        )
        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let rules = try await reading.client.call(Routes.placeRules)
            try reading.show(rules) { PlaceRuleTable.render($0) }
        }
    }
}

extension PlaceEventKind: FixedWord {}

/// A table of rules, with their problems below.
enum PlaceRuleTable {
    static func render(_ rules: [PlaceRuleDescription], limit: Int? = StandardOutput.widthLimit) -> String {
        guard !rules.isEmpty else { return "No rules; add some under places.rules in the configuration file." }
        var table = Table([
            ("RULE", .left), ("ON", .left), ("AT", .left), ("ONCE", .left), ("ACTIONS", .left),
        ])
        for rule in rules {
            table.add([rule.name, rule.condition, rule.scope, rule.once, rule.actions.joined(separator: "; ")])
        }
        let problems = rules.flatMap { rule in
            rule.problems.map { "\(rule.name): \($0)".withoutControlCharacters }
        }
        return ([table.render(limit: limit)] + problems).joined(separator: "\n")
    }
}

extension PlaceRuleDescription {
    /// Such as `approach 25 s`.
    fileprivate var condition: String {
        let seconds = (eta ?? dwell).map { "\($0.decimals(0)) s" }
        return ([on.rawValue, seconds ?? within?.metres].compactMap(\.self) + (hours.map { [$0] } ?? []))
            .joined(separator: " ")
    }

    fileprivate var scope: String {
        places.map { $0.joined(separator: ", ") } ?? tags.map { "tag " + $0.joined(separator: ", ") } ?? "all places"
    }

    fileprivate var actions: [String] {
        [
            announce.map { "announce \($0)" }, say.map { "say \($0.debugDescription)" }, fetch.map { "fetch \($0)" },
            task.map { "task \($0)" },
        ].compactMap(\.self)
    }
}
