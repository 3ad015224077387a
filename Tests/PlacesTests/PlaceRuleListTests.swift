import BackgrounderAPI
import Places
import Testing

@Suite struct PlaceRuleListTests {
    private static let keys =
        "name, on, tags, places, eta, within, dwell, once, cooldown, hours, announce, say, fetch, task"
    private static let isMissing = "add one such as name: next-stop"
    private static let durations = "use a duration from 1s to 365d"
    private static let name = "use 1 to 100 bytes without control characters"
    private static let item = "use the path of a file, of at most 4096 bytes"
    private static let speech = "use a text, of at most 4096 bytes"

    private static func lines(_ value: RuleValue) -> [String] { PlaceRuleList(value).faults.map(\.description) }

    /// Returns the lines of a rule that has these fields beside a name, an event and an action.
    private static func lines(of fields: KeyValuePairs<String, RuleValue>) -> [String] {
        var entries: [(key: String, value: RuleValue)] = [("name", "r")]
        if !fields.contains(where: { $0.key == "on" }) { entries.append(("on", "enter")) }
        if !fields.contains(where: { $0.key == "fetch" }) { entries.append(("fetch", "news")) }
        return lines(.list([.map(entries + fields.map { ($0.key, $0.value) })]))
    }

    // MARK: Valid rules

    @Test func `a rule has the values of its fields`() throws {
        let list = PlaceRuleList([
            [
                "name": "next-stop", "on": "approach", "tags": ["stop", "night"], "eta": "25s", "once": "trip",
                "cooldown": "5m", "hours": "05:00-23:00",
                "announce": ["item": "stops/{sourceId}.wav", "duck": "20%", "priority": "5", "expires": "15s"],
                "fetch": "news", "task": "lights",
            ]
        ])
        #expect(list.faults == [])
        let item = PlaceRule.Announcement(
            .item(try PlaceTemplate("stops/{sourceId}.wav")),
            duck: 0.2,
            priority: 5,
            expires: .seconds(15)
        )
        #expect(
            list.rules == [
                PlaceRule(
                    name: "next-stop",
                    on: .approach,
                    watch: .eta(25),
                    scope: .tags(["stop", "night"]),
                    once: .trip,
                    cooldown: .seconds(300),
                    hours: DailyHours("05:00-23:00"),
                    announcement: item,
                    fetch: "news",
                    task: "lights"
                )
            ]
        )
    }

    @Test func `a rule is for all places and once a visit unless it says otherwise`() throws {
        let list = PlaceRuleList([["name": "a", "on": "leave", "say": "Bye"]])
        let speech = PlaceRule.Announcement(.text(try PlaceTemplate("Bye")))
        #expect(list.rules == [PlaceRule(name: "a", on: .leave, scope: .all, once: .visit, announcement: speech)])
        #expect(speech.expires == .seconds(30))
        #expect(speech.priority == 0)
        #expect(speech.duck == nil)
        #expect(list.faults == [])
    }

    @Test func `an announcement may be a text, and speech may have options`() throws {
        let list = PlaceRuleList([
            ["name": "a", "on": "pass", "announce": "gong.wav"],
            ["name": "b", "on": "pass", "say": ["text": "Hello", "expires": "1m", "priority": "-2", "duck": "0.5"]],
        ])
        #expect(list.faults == [])
        let hello = PlaceRule.Announcement(
            .text(try PlaceTemplate("Hello")),
            duck: 0.5,
            priority: -2,
            expires: .seconds(60)
        )
        #expect(
            list.rules.map(\.announcement) == [PlaceRule.Announcement(.item(try PlaceTemplate("gong.wav"))), hello]
        )
    }

    @Test(
        arguments: [
            (["on": "approach", "eta": "1s"], .eta(1)),
            (["on": "approach", "eta": "1h"], .eta(3600)),
            (["on": "approach", "within": "1"], .within(1)),
            (["on": "approach", "within": "200m"], .within(200)),
            (["on": "approach", "within": "0.5km"], .within(500)),
            (["on": "approach", "within": "50km"], .within(50_000)),
            (["on": "dwell", "dwell": "2m"], .dwell(120)),
            (["on": "dwell", "dwell": "365d"], .dwell(31_536_000)),
        ] as [(RuleValue, PlaceWatch)]
    )
    func `a rule watches a time or a distance`(fields: RuleValue, watch: PlaceWatch) {
        guard case .map(let entries) = fields else { return }
        let list = PlaceRuleList(.list([.map([("name", "a"), ("fetch", "news")] + entries)]))
        #expect(list.faults == [])
        #expect(list.rules.map(\.watch) == [watch])
    }

    @Test(
        arguments: [
            ("tags", "stop", .tags(["stop"])), ("tags", ["a", "b"], .tags(["a", "b"])),
            ("places", "Harbour", .places(["Harbour"])), ("places", ["A", "B"], .places(["A", "B"])),
        ] as [(String, RuleValue, PlaceRule.Scope)]
    )
    func `tags and places may be a list or one text`(key: String, value: RuleValue, scope: PlaceRule.Scope) {
        let list = PlaceRuleList(.list([.map([("name", "a"), ("on", "enter"), ("fetch", "news"), (key, value)])]))
        #expect(list.faults == [])
        #expect(list.rules.map(\.scope) == [scope])
    }

    @Test func `no list is an empty list`() {
        #expect(PlaceRuleList(nil).rules == [])
        #expect(PlaceRuleList(nil).faults == [])
        #expect(PlaceRuleList([]).faults == [])
    }

    // MARK: Faults of the list

    @Test(arguments: ["next-stop", ["name": "next-stop"]] as [RuleValue])
    func `rules that are not a list are refused`(value: RuleValue) {
        #expect(
            Self.lines(value) == ["places.rules: not a list; begin each rule with a line such as - name: next-stop"]
        )
    }

    @Test func `there are at most 500 rules`() {
        let rules = (0...500).map { RuleValue.map([("name", .text("\($0)")), ("on", "enter"), ("fetch", "news")]) }
        let most = PlaceRuleList(.list(rules.dropLast()))
        #expect(most.faults == [])
        #expect(most.rules.count == 500)
        let tooMany = PlaceRuleList(.list(rules))
        #expect(tooMany.rules.isEmpty)
        #expect(
            tooMany.faults.map(\.description) == [
                "places.rules: 501 rules are too many; use at most 500, for example with tags instead of places"
            ]
        )
    }

    @Test func `a name that is used again is refused, and only the first rule stays`() {
        let rule: RuleValue = ["name": "a", "on": "enter", "fetch": "news"]
        let list = PlaceRuleList([rule, ["name": "b", "on": "enter", "fetch": "news"], rule, rule])
        let line = "places.rules.a.name: rule 1 has the same name; use another name"
        #expect(list.rules.map(\.name) == ["a", "b"])
        #expect(list.faults.map(\.description) == [line, line])
        #expect(list.faults.map(\.index) == [2, 3])
    }

    @Test func `all faults of all rules are given in their order, and rules without faults stay`() {
        let list = PlaceRuleList([
            ["name": "a", "on": "entre", "cooldown": "soon"],
            ["name": "b", "on": "enter", "fetch": "news"],
            ["on": "leave", "fetch": ""],
        ])
        #expect(list.rules.map(\.name) == ["b"])
        #expect(
            list.faults.map(\.description) == [
                #"places.rules.a.on: "entre" is not valid; did you mean enter?"#,
                #"places.rules.a.cooldown: "soon" is not valid; \#(Self.durations)"#,
                "places.rules.a: the rule has no action; add announce, say, fetch or task",
                "places.rules, rule 3, name: is missing; \(Self.isMissing)",
                #"places.rules, rule 3, fetch: "" is not valid; use the name of a fetch source"#,
            ]
        )
        #expect(list.faults.map(\.index) == [0, 0, 0, 2, 2])
        #expect(list.faults.map(\.rule) == ["a", "a", "a", nil, nil])
        #expect(list.faults.map(\.field) == ["on", "cooldown", nil, "name", "fetch"])
        #expect(list.faults.allSatisfy { !$0.isWarning })
    }

    // MARK: Faults of a rule

    @Test(
        arguments: [
            ("enter", "places.rules, rule 1: not a mapping; use the keys \(keys)"),
            (nil, "places.rules, rule 1: not a mapping; use the keys \(keys)"),
            (["on": "enter", "fetch": "a"], "places.rules, rule 1, name: is missing; \(isMissing)"),
            (["name": nil, "on": "enter", "fetch": "a"], "places.rules, rule 1, name: no value; \(name)"),
            (["name": "", "on": "enter", "fetch": "a"], #"places.rules, rule 1, name: "" is not valid; \#(name)"#),
            (
                ["name": "a\u{1B}b", "on": "enter", "fetch": "a"],
                "places.rules, rule 1, name: \"a\u{FFFD}b\" is not valid; \(name)"
            ),
            (["name": "a", "fetch": "a"], "places.rules.a.on: is missing; add the event, such as on: enter"),
            (["name": "a", "on": "enter"], "places.rules.a: the rule has no action; add announce, say, fetch or task"),
        ] as [(RuleValue, String)]
    )
    func `a rule needs a name, an event and an action`(rule: RuleValue, line: String) {
        #expect(Self.lines([rule]) == [line])
    }

    @Test func `a name has at most 100 bytes, and a longer one is cut in the message`() {
        let rule = { (name: String) in RuleValue.map([("name", .text(name)), ("on", "enter"), ("fetch", "a")]) }
        #expect(Self.lines(.list([rule(String(repeating: "é", count: 50))])) == [])
        #expect(
            Self.lines(.list([rule(String(repeating: "x", count: 101))])) == [
                "places.rules, rule 1, name: \"\(String(repeating: "x", count: 60))…\" is not valid; \(Self.name)"
            ]
        )
    }

    @Test(
        arguments: [
            (["anounce": "a.wav"], ": unknown key \"anounce\"; did you mean announce?"),
            (["colour": "red"], ": unknown key \"colour\"; known keys: \(keys)"),
            (["fetch": "a", "fetch": "b", "fetch": "c"], ".fetch: duplicate key; remove one"),
            (["announce": ["itm": "a"]], ".announce: unknown key \"itm\"; did you mean item?"),
            (
                ["say": ["item": "a", "text": "b"]],
                ".say: unknown key \"item\"; known keys: text, duck, priority, expires"
            ),
            (["say": ["text": "a", "text": "b"]], ".say.text: duplicate key; remove one"),
        ] as [(KeyValuePairs<String, RuleValue>, String)]
    )
    func `unknown and duplicate keys are refused`(fields: KeyValuePairs<String, RuleValue>, line: String) {
        #expect(Self.lines(of: fields) == ["places.rules.r" + line])
    }

    @Test(
        arguments: [
            (["on": "arrival"], ".on: \"arrival\" is not valid; use enter, leave, dwell, pass, approach or next"),
            (["on": "Leave"], ".on: \"Leave\" is not valid; did you mean leave?"),
            (["on": nil], ".on: no value; use enter, leave, dwell, pass, approach or next"),
            (["on": ["enter"]], ".on: a list is not allowed; use enter, leave, dwell, pass, approach or next"),
            (["once": "never"], ".once: \"never\" is not valid; did you mean ever?"),
            (["once": "weekly"], ".once: \"weekly\" is not valid; use visit, trip, day, ever or always"),
            (["cooldown": "0s"], ".cooldown: \"0s\" is not valid; \(durations)"),
            (["cooldown": "366d"], ".cooldown: \"366d\" is not valid; \(durations)"),
            (["cooldown": ["s": "5"]], ".cooldown: a mapping is not allowed; \(durations)"),
            (["hours": "5-23"], ".hours: \"5-23\" is not valid; use local times such as 05:00-23:00"),
            (["task": ""], ".task: \"\" is not valid; use the name of a task hook"),
            (["fetch": nil], ".fetch: no value; use the name of a fetch source"),
        ] as [(KeyValuePairs<String, RuleValue>, String)]
    )
    func `a value that is not valid is refused with what is`(fields: KeyValuePairs<String, RuleValue>, line: String) {
        #expect(Self.lines(of: fields) == ["places.rules.r" + line])
    }

    @Test(
        arguments: [
            (["eta": "5s"], ".eta: allowed only with on: approach; remove it"),
            (
                ["on": "dwell", "dwell": "5s", "within": "5m"],
                ".within: allowed only with on: approach; remove it"
            ),
            (["dwell": "5s"], ".dwell: allowed only with on: dwell; remove it"),
            (["on": "dwell"], ": on: dwell needs a time; add one such as dwell: 2m"),
            (["on": "approach"], ": on: approach needs a time or a distance; add one such as eta: 25s or within: 200m"),
            (
                ["on": "approach", "eta": "5s", "within": "5m"],
                ": eta and within exclude each other; remove one of them"
            ),
            (["on": "approach", "eta": "0.5s"], ".eta: \"0.5s\" is not valid; use a duration from 1s to 1h"),
            (["on": "approach", "eta": "61m"], ".eta: \"61m\" is not valid; use a duration from 1s to 1h"),
            (["on": "approach", "within": "0m"], ".within: \"0m\" is not valid; use a length from 1m to 50km"),
            (["on": "approach", "within": "51km"], ".within: \"51km\" is not valid; use a length from 1m to 50km"),
            (["on": "approach", "within": "1e3m"], ".within: \"1e3m\" is not valid; use a length from 1m to 50km"),
            (["on": "approach", "within": "near"], ".within: \"near\" is not valid; use a length from 1m to 50km"),
            (["on": "dwell", "dwell": "-5s"], ".dwell: \"-5s\" is not valid; \(durations)"),
        ] as [(KeyValuePairs<String, RuleValue>, String)]
    )
    func `approach needs one time or distance, dwell a time, and the others neither`(
        fields: KeyValuePairs<String, RuleValue>,
        line: String
    ) {
        #expect(Self.lines(of: fields) == ["places.rules.r" + line])
    }

    @Test(
        arguments: [
            (["tags": "a", "places": "b"], ": tags and places exclude each other; remove one of them"),
            (["tags": []], ".tags: the list is empty; use a tag or a list of tags, such as [stop]"),
            (["tags": ["a", ""]], ".tags: a name is empty; use a tag or a list of tags, such as [stop]"),
            (["tags": ["a", ["b"]]], ".tags: not a list of texts; use a tag or a list of tags, such as [stop]"),
            (["tags": nil], ".tags: no value; use a tag or a list of tags, such as [stop]"),
            (["places": ""], ".places: a name is empty; use a name or a list of names, such as [Harbour]"),
            (
                ["places": ["a": "b"]],
                ".places: a mapping is not allowed; use a name or a list of names, such as [Harbour]"
            ),
        ] as [(KeyValuePairs<String, RuleValue>, String)]
    )
    func `tags and places are names`(fields: KeyValuePairs<String, RuleValue>, line: String) {
        #expect(Self.lines(of: fields) == ["places.rules.r" + line])
    }

    @Test(
        arguments: [
            (["announce": "a", "say": "b"], ": announce and say exclude each other; remove one of them"),
            (["announce": nil], ".announce: not a mapping; use the keys item, duck, priority, expires"),
            (["say": ["Hello"]], ".say: not a mapping; use the keys text, duck, priority, expires"),
            (["announce": ["duck": "0"]], ".announce.item: is missing; add the path of a file"),
            (["say": ["duck": "1"]], ".say.text: is missing; add a text"),
            (["announce": ["item": nil]], ".announce.item: no value; \(item)"),
            (["announce": " "], ".announce: \" \" is not valid; \(item)"),
            (["announce": "a\u{0}"], ".announce: \"a\u{FFFD}\" is not valid; \(item)"),
            (["say": ["text": ""]], ".say.text: \"\" is not valid; \(speech)"),
            (["say": "{name"], ".say: a { has no }; close the placeholder, or write {{ for a brace"),
            (["say": "name}"], ".say: a } has no {; open the placeholder, or write }} for a brace"),
            (
                ["announce": ["item": "{}.wav"]],
                ".announce.item: a placeholder {} has no name; use one such as {name}, or write {{}} for braces"
            ),
            (
                ["announce": ["item": "a", "duck": "120%"]],
                ".announce.duck: \"120%\" is not valid; use a share of the volume from 0% to 100%"
            ),
            (
                ["announce": ["item": "a", "duck": "-0.1"]],
                ".announce.duck: \"-0.1\" is not valid; use a share of the volume from 0% to 100%"
            ),
            (
                ["announce": ["item": "a", "priority": "high"]],
                ".announce.priority: \"high\" is not valid; use a whole number such as 5"
            ),
            (
                ["say": ["text": "a", "expires": "25h"]],
                ".say.expires: \"25h\" is not valid; use a duration from 1s to 1d"
            ),
        ] as [(KeyValuePairs<String, RuleValue>, String)]
    )
    func `an announcement that is not valid is refused`(fields: KeyValuePairs<String, RuleValue>, line: String) {
        #expect(Self.lines(of: fields) == ["places.rules.r" + line])
    }

    @Test func `a template has at most 4096 bytes`() {
        #expect(Self.lines(of: ["say": .text(String(repeating: "x", count: 4096))]) == [])
        #expect(
            Self.lines(of: ["say": .text(String(repeating: "x", count: 4097))]) == [
                "places.rules.r.say: \"\(String(repeating: "x", count: 60))…\" is not valid; \(Self.speech)"
            ]
        )
    }
}
