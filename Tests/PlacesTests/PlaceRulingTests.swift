import BackgrounderAPI
import Foundation
import Places
import SystemSupport
import Testing

@Suite struct PlaceRulingTests {
    private static func item(_ text: String, priority: Int = 0, expires: Duration = .seconds(30)) throws
        -> PlaceRule.Announcement
    {
        PlaceRule.Announcement(.item(try PlaceTemplate(text)), duck: 0.2, priority: priority, expires: expires)
    }

    private static func speech(_ text: String) throws -> PlaceRule.Announcement {
        PlaceRule.Announcement(.text(try PlaceTemplate(text)))
    }

    // MARK: Actions

    @Test func `a rule starts its announcement, its fetch and its task, in this order`() throws {
        var script = RuleScript([
            PlaceRule(
                name: "a",
                on: .enter,
                announcement: try Self.item("{sourceId}.wav", priority: 5),
                fetch: "news",
                task: "lights"
            )
        ])
        let ruling = script.judge(RuleScript.occasion(.enter))
        #expect(ruling.actions.map { $0.map(\.kind) } == [[.announce, .fetch, .task]])
        #expect(ruling.actions[0].map(\.rule) == ["a", "a", "a"])
        #expect(
            ruling.due.map(\.operation) == [
                .announce(item: "s1.wav", duck: 0.2, priority: 5), .fetch(source: "news"),
                .task(hook: "lights", place: "Harbour", event: .enter, sourceId: "s1"),
            ]
        )
        #expect(ruling.due.map(\.action) == [0, 1, 2])
        #expect(ruling.due.map(\.deadline) == [RuleScript.time(30), nil, nil])
    }

    @Test func `an action to run is stored as failed until it has run`() throws {
        var script = RuleScript([PlaceRule(name: "a", on: .enter, announcement: try Self.speech("To {name}"))])
        let ruling = script.judge(RuleScript.occasion(.enter))
        let detail = "the service stopped before it ran"
        #expect(ruling.actions == [[PlaceAction(rule: "a", kind: .say, outcome: .failed, detail: detail)]])
        #expect(ruling.due.map(\.operation) == [.say(text: "To Harbour", duck: nil, priority: 0)])
        #expect(PlaceRuling.unfinished == detail)
    }

    @Test func `each occasion has its actions, and each due action its occasion`() throws {
        var script = RuleScript([
            PlaceRule(name: "a", on: .leave, fetch: "x"), PlaceRule(name: "b", on: .leave, fetch: "y"),
        ])
        let ruling = script.judge(
            RuleScript.occasion(.leave),
            RuleScript.occasion(.enter),
            RuleScript.occasion(.leave, id: 2)
        )
        #expect(ruling.actions.map { $0.map(\.rule) } == [["a", "b"], [], ["a", "b"]])
        #expect(ruling.due.map(\.rule) == ["a", "a", "b", "b"])
        #expect(ruling.due.map(\.occasion) == [0, 2, 0, 2])
        #expect(ruling.due.map(\.action) == [0, 0, 1, 1])
    }

    @Test func `nothing follows from no occasion, and from one without rules`() {
        var script = RuleScript([])
        #expect(script.judge().actions.isEmpty)
        #expect(script.judge(RuleScript.occasion(.enter)).actions == [[]])
        #expect(script.judge(RuleScript.occasion(.enter)).due == [])
    }

    // MARK: Order

    @Test func `a higher priority starts first, then the smaller place, then the first rule`() throws {
        var script = RuleScript([
            PlaceRule(name: "low", on: .enter, announcement: try Self.item("a", priority: -1)),
            PlaceRule(name: "none", on: .enter, fetch: "x"),
            PlaceRule(name: "zero", on: .enter, announcement: try Self.item("a")),
            PlaceRule(name: "high", on: .enter, announcement: try Self.item("a", priority: 1), task: "t"),
        ])
        let radii: [Double?] = [nil, 50, .nan, 20, 50]
        let occasions = radii.enumerated().map { RuleScript.occasion(.enter, id: $0, radius: $1) }
        let due = script.book.judge(occasions, at: RuleScript.time(0)).due
        let order = { (rule: String) in due.filter { $0.rule == rule }.map(\.occasion) }
        #expect(due.prefix(10).allSatisfy { $0.rule == "high" })
        #expect(due.prefix(4).map(\.action) == [3, 4, 3, 4])
        #expect(order("high") == [3, 3, 1, 1, 4, 4, 0, 0, 2, 2])
        #expect(due[10..<14].map(\.rule) == ["none", "zero", "none", "none"])
        #expect(due[10..<16].map(\.occasion) == [3, 3, 1, 4, 1, 4])
        #expect(due.suffix(5).allSatisfy { $0.rule == "low" })
        #expect(order("low") == [3, 1, 4, 0, 2])
    }

    // MARK: Templates

    @Test(
        arguments: [
            ("{name}", "Harbour"), ("{source}", "stops.geojson"), ("{sourceId}", "s1"), ("{event}", "approach"),
            ("{distance}", "120"), ("{eta}", "25"), ("{time}", "09:30"), ("{platform}", "4"),
            ("Next: {name}, platform {platform}", "Next: Harbour, platform 4"),
        ]
    )
    func `a placeholder is a figure of the event or a property of the place`(text: String, result: String) throws {
        let announcement = try Self.speech(text)
        var script = RuleScript([PlaceRule(name: "a", on: .approach, announcement: announcement)], utcOffset: 5400)
        let ruling = script.judge(RuleScript.occasion(.approach, eta: 24.6))
        #expect(ruling.due.map(\.operation) == [.say(text: result, duck: nil, priority: 0)])
    }

    @Test(
        arguments: [
            ("{speed}", "the place has no property \"speed\""), ("{source}", "the place has no source"),
            ("{sourceId}", "the place has no sourceId"), ("{eta}", "{eta} is not known for this event"),
            ("{distance}", "{distance} is not known for this event"),
            ("{long}{long}", "the text has more than 65536 bytes"),
            ("{a\u{1B}}", "the place has no property \"a\u{FFFD}\""),
        ]
    )
    func `an action whose placeholder has no value fails`(text: String, detail: String) throws {
        var place = RuleScript.harbour
        (place.source, place.sourceId) = (nil, nil)
        place.properties["long"] = String(repeating: "x", count: 40_000)
        for announcement in [try Self.speech(text), try Self.item(text)] {
            var script = RuleScript([PlaceRule(name: "a", on: .enter, once: .ever, announcement: announcement)])
            let lines = script.lines(RuleScript.occasion(.enter, place: place, distance: .nan))
            #expect(lines.map { $0.split(separator: " ", maxSplits: 1)[1] } == ["failed: \(detail)"])
            #expect(script.stored.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("", #""""#), (".", #"".""#), ("..", #""..""#), (".a", #"".a""#), ("a/b", #""a/b""#),
            ("a\u{0}", "\"a\u{FFFD}\""), ("a\nb", "\"a\u{FFFD}b\""),
        ]
    )
    func `an item is refused if a value may lead to another file`(value: String, shown: String) throws {
        var place = RuleScript.harbour
        place.properties["file"] = value
        let announcement = try Self.item("stops/{file}.wav")
        var script = RuleScript([PlaceRule(name: "a", on: .enter, once: .ever, announcement: announcement)])
        let detail = "{file} is \(shown), which cannot be part of a file name"
        #expect(script.lines(RuleScript.occasion(.enter, place: place)) == ["announce refused: \(detail)"])
        #expect(script.stored.isEmpty)
    }

    @Test func `speech may name anything`() throws {
        var place = RuleScript.harbour
        place.properties["line"] = "../A/\u{1B}B"
        var script = RuleScript([PlaceRule(name: "a", on: .enter, announcement: try Self.speech("To {line}"))])
        let ruling = script.judge(RuleScript.occasion(.enter, place: place))
        #expect(ruling.due.map(\.operation) == [.say(text: "To ../A/ B", duck: nil, priority: 0)])
    }

    @Test func `the other actions of a rule run if one cannot, and use up the rule`() throws {
        let speech = try Self.speech("{nothing}")
        var script = RuleScript([PlaceRule(name: "a", on: .dwell, announcement: speech, fetch: "news")])
        let failed = "say failed: the place has no property \"nothing\""
        #expect(script.lines(.dwell, at: 0) == [failed, "fetch fired"])
        let once = "once: already fired on this visit, at 2027-01-15T08:00:00.000Z"
        #expect(script.lines(.dwell, at: 1) == ["say \(once)", "fetch \(once)"])
    }

    // MARK: Expiry

    @Test(arguments: [(30, 30), (15, 15), (90, 90)])
    func `an announcement that is too late expires`(expires: Int, limit: Double) throws {
        let announcement = try Self.item("a", expires: .seconds(expires))
        var script = RuleScript([PlaceRule(name: "a", on: .enter, once: .always, announcement: announcement)])
        let inTime = script.judge(RuleScript.occasion(.enter), now: limit)
        #expect(inTime.due.map(\.deadline) == [RuleScript.time(limit)])
        #expect(inTime.due.map { $0.isExpired(at: RuleScript.time(limit)) } == [false])
        #expect(inTime.due.map { $0.isExpired(at: RuleScript.time(limit + 0.001)) } == [true])
        let late = script.judge(RuleScript.occasion(.enter), now: limit + 0.001)
        #expect(late.due == [])
        let age = expires == 90 ? "90s" : "\(expires)s"
        #expect(late.actions[0].map(RuleScript.line) == ["announce expired: the event was more than \(age) ago"])
    }

    @Test func `an expired announcement uses up nothing`() throws {
        let rule = PlaceRule(name: "a", on: .dwell, once: .ever, announcement: try Self.speech("Hello"))
        var script = RuleScript([rule])
        #expect(script.judge(RuleScript.occasion(.dwell), now: 31).saved == [])
        #expect(script.lines(.dwell, at: 40) == ["say fired"])
    }

    @Test func `fetches and tasks do not expire`() {
        var script = RuleScript([PlaceRule(name: "a", on: .enter, fetch: "news", task: "lights")])
        let ruling = script.judge(RuleScript.occasion(.enter), now: 1e6)
        #expect(ruling.due.map(\.deadline) == [nil, nil])
        #expect(ruling.due.map { $0.isExpired(at: RuleScript.time(1e9)) } == [false, false])
    }

    // MARK: Simulation

    @Test(arguments: PlaceRule.Once.allCases)
    func `a simulated event fires rules regardless of their conditions, and uses up nothing`(once: PlaceRule.Once) {
        let hours = DailyHours("01:00-02:00")
        let rule = PlaceRule(name: "a", on: .dwell, once: once, cooldown: .seconds(60), fetch: "news")
        let closed = PlaceRule(name: "b", on: .dwell, hours: hours, fetch: "news")
        var script = RuleScript([rule, closed])
        let simulated = RuleScript.occasion(.dwell, trip: 1, origin: .simulated)
        for _ in 0..<2 {
            let ruling = script.judge(simulated)
            #expect(ruling.due.map(\.rule) == ["a", "b"])
            #expect(ruling.saved == [])
            #expect(ruling.removed == [])
        }
        #expect(script.lines(.dwell, at: 0, trip: 1).first == "fetch fired")
        #expect(script.judge(simulated).due.map(\.rule) == ["a", "b"])
    }

    @Test(arguments: [.leave, .pass, .enter] as [PlaceEventKind])
    func `a simulated event ends no visit`(event: PlaceEventKind) {
        var script = RuleScript([PlaceRule(name: "a", on: .dwell, fetch: "news")])
        #expect(script.lines(.dwell, at: 0) == ["fetch fired"])
        let ruling = script.judge(RuleScript.occasion(event, at: 5, origin: .simulated))
        #expect(ruling.removed == [])
        #expect(script.lines(.dwell, at: 10).map { $0.prefix(10) } == ["fetch once"])
    }

    @Test func `a simulated approach without a watch fires the rules with any, and otherwise those with its own`() {
        var script = RuleScript([
            PlaceRule(name: "a", on: .approach, watch: .eta(25), fetch: "news"),
            PlaceRule(name: "b", on: .approach, watch: .within(200), fetch: "news"),
            PlaceRule(name: "c", on: .approach, watch: .eta(25), scope: .places(["Mill"]), fetch: "news"),
        ])
        let any = script.judge(RuleScript.occasion(.approach, origin: .simulated))
        #expect(any.due.map(\.rule) == ["a", "b"])
        let one = script.judge(RuleScript.occasion(.approach, watch: .within(200), origin: .simulated))
        #expect(one.due.map(\.rule) == ["b"])
    }

    @Test func `a simulated action can be refused, fail and expire`() throws {
        var script = RuleScript([
            PlaceRule(name: "a", on: .enter, announcement: try Self.item("{bad}")),
            PlaceRule(name: "b", on: .enter, announcement: try Self.speech("{none}")),
            PlaceRule(name: "c", on: .enter, announcement: try Self.item("c", expires: .seconds(5))),
        ])
        var place = RuleScript.harbour
        place.properties["bad"] = ".."
        let ruling = script.judge(RuleScript.occasion(.enter, place: place, origin: .simulated), now: 6)
        #expect(ruling.actions[0].map(\.outcome) == [.refused, .failed, .expired])
        #expect(ruling.due == [])
    }
}
