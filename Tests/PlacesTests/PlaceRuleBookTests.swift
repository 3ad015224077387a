import BackgrounderAPI
import Foundation
import SystemSupport
import Testing

@testable import Places

@Suite struct PlaceRuleBookTests {
    private static func rule(
        _ name: String = "a",
        on event: PlaceEventKind = .enter,
        watch: PlaceWatch? = nil,
        scope: PlaceRule.Scope = .all,
        once: PlaceRule.Once = .always,
        cooldown: Duration? = nil,
        hours: String? = nil
    ) -> PlaceRule {
        PlaceRule(
            name: name,
            on: event,
            watch: watch,
            scope: scope,
            once: once,
            cooldown: cooldown,
            hours: hours.flatMap { DailyHours($0) },
            fetch: "news"
        )
    }

    private static let fired = ["fetch fired"]
    private static let sameVisit = ["fetch once: already fired on this visit, at 2027-01-15T08:00:00.000Z"]
    private static let sameTrip = ["fetch once: already fired on this trip, at 2027-01-15T08:00:00.000Z"]
    private static let sameDay = ["fetch once: already fired on this day, at 2027-01-15T08:00:00.000Z"]

    // MARK: Events and places

    @Test(arguments: PlaceEventKind.allCases)
    func `a rule fires for its event`(event: PlaceEventKind) {
        var script = RuleScript([Self.rule(on: event)])
        for other in PlaceEventKind.allCases {
            #expect(script.lines(other, at: 0) == (other == event ? Self.fired : []))
        }
    }

    @Test(
        arguments: [
            (.all, true), (.tags(["stop"]), true), (.tags(["water", "stop"]), true), (.tags(["x", "water"]), true),
            (.tags(["x"]), false), (.tags(["Stop"]), false), (.places(["Harbour"]), true),
            (.places(["Mill", "Harbour"]), true), (.places(["harbour"]), false), (.places(["stop"]), false),
            (.tags(["Harbour"]), false),
        ] as [(PlaceRule.Scope, Bool)]
    )
    func `a rule fires at its places`(scope: PlaceRule.Scope, isExpected: Bool) {
        var script = RuleScript([Self.rule(scope: scope)])
        #expect(script.lines(.enter, at: 0) == (isExpected ? Self.fired : []))
        #expect(Self.rule(scope: scope).applies(to: RuleScript.harbour) == isExpected)
    }

    @Test(
        arguments: [
            (.eta(25), true), (.eta(26), false), (.within(25), false), (.dwell(25), false), (nil, false),
        ] as [(PlaceWatch?, Bool)]
    )
    func `an approach fires the rules with its watch`(watch: PlaceWatch?, isExpected: Bool) {
        var script = RuleScript([Self.rule(on: .approach, watch: .eta(25))])
        #expect(script.lines(.approach, at: 0, watch: watch) == (isExpected ? Self.fired : []))
    }

    @Test func `a machine that was inside from the beginning has not entered, but it dwells`() {
        var script = RuleScript([Self.rule(), Self.rule("b", on: .dwell, watch: .dwell(60))])
        #expect(script.lines(RuleScript.occasion(.enter, initial: true)) == [])
        #expect(script.lines(RuleScript.occasion(.dwell, at: 60, watch: .dwell(60), initial: true)) == Self.fired)
    }

    @Test func `a place has the watches of its rules, each once`() {
        let book = PlaceRuleBook([
            Self.rule("a", on: .approach, watch: .eta(25)), Self.rule("b", on: .enter),
            Self.rule("c", on: .approach, watch: .within(200), scope: .tags(["stop"])),
            Self.rule("d", on: .dwell, watch: .dwell(60), scope: .places(["Mill"])),
            Self.rule("e", on: .approach, watch: .eta(25), scope: .places(["Harbour"])),
            Self.rule("f", on: .dwell, watch: .dwell(90), scope: .places(["Harbour"])),
        ])
        #expect(book.watches == [.eta(25), .within(200), .dwell(60), .dwell(90)])
        #expect(book.watches(of: RuleScript.harbour) == [.eta(25), .within(200), .dwell(90)])
    }

    @Test func `the index finds the rules that apply`() {
        let words = [["a"], ["b"], ["a", "b"], ["b", "c"], ["c", "c"]]
        let scopes = [.all] + words.map { PlaceRule.Scope.tags($0) } + words.map { PlaceRule.Scope.places($0) }
        let rules = scopes.flatMap { scope in PlaceEventKind.allCases.map { Self.rule(on: $0, scope: scope) } }
        let index = PlaceRuleIndex(rules)
        for name in ["a", "b", "c", "d"] {
            for tags in words + [[], ["d"]] {
                var place = RuleScript.harbour
                (place.name, place.tags) = (name, tags)
                for events in [[.enter], [.approach, .dwell]] as [[PlaceEventKind]] {
                    let expected = rules.indices.filter {
                        events.contains(rules[$0].event) && rules[$0].applies(to: place)
                    }
                    #expect(index.positions(on: events, at: place) == expected)
                }
            }
        }
    }

    // MARK: Once

    @Test(arguments: [false, true])
    func `once a visit, a rule fires again after a leave`(restarts: Bool) {
        var script = RuleScript([Self.rule(on: .dwell, once: .visit), Self.rule("b", on: .leave, once: .visit)])
        for start in [0.0, 1000] {
            #expect(script.lines(.dwell, at: start) == Self.fired)
            if restarts { script.restart() }
            let refused = script.lines(.dwell, at: start + 60)
            #expect(refused.count == 1)
            #expect(refused.first?.hasPrefix("fetch once: already fired on this visit, at ") == true)
            #expect(script.lines(.leave, at: start + 100) == Self.fired)
            if restarts { script.restart() }
        }
        #expect(script.stored.isEmpty)
    }

    @Test(arguments: [.leave, .pass, .enter] as [PlaceEventKind])
    func `a leave, a pass and the next enter end a visit`(end: PlaceEventKind) {
        var script = RuleScript([Self.rule(on: .dwell, once: .visit)])
        #expect(script.lines(.dwell, at: 0) == Self.fired)
        #expect(script.lines(.dwell, at: 1000) == Self.sameVisit)
        #expect(script.lines(.dwell, at: -10) == Self.sameVisit)
        #expect(script.lines(end, at: 1020) == [])
        #expect(script.lines(.dwell, at: 1030) == Self.fired)
    }

    @Test(arguments: [.approach, .dwell] as [PlaceEventKind])
    func `other events and other places do not end a visit`(other: PlaceEventKind) {
        var script = RuleScript([Self.rule(on: .dwell, watch: .dwell(5), once: .visit)])
        #expect(script.lines(.dwell, at: 0, watch: .dwell(5)) == Self.fired)
        #expect(script.lines(other, at: 10) == [])
        #expect(script.lines(RuleScript.occasion(.enter, at: 10, initial: true)) == [])
        #expect(script.lines(.leave, at: 10, id: 2) == [])
        #expect(script.lines(.dwell, at: 20, watch: .dwell(5)) == Self.sameVisit)
        #expect(script.lines(.dwell, at: 20, watch: .dwell(5), id: 2) == Self.fired)
    }

    @Test func `an approach belongs to the visit that follows, and to one that does not`() {
        var script = RuleScript([Self.rule(on: .approach, once: .visit)])
        #expect(script.lines(.approach, at: 0) == Self.fired)
        #expect(script.lines(.approach, at: 599) == Self.sameVisit)
        #expect(script.lines(.enter, at: 599) == [])
        #expect(script.lines(.approach, at: 599) == Self.sameVisit)
        #expect(script.lines(.leave, at: 599) == [])
        #expect(script.lines(.approach, at: 599) == Self.fired)
        #expect(script.lines(.pass, at: 600) == [])
        #expect(script.lines(.approach, at: 601) == Self.fired)
    }

    @Test func `an approach without a visit is forgotten after 10 minutes, or when the clock goes back`() {
        var script = RuleScript([Self.rule(on: .approach, once: .visit)])
        #expect(script.lines(.approach, at: 0) == Self.fired)
        #expect(script.lines(.approach, at: 599.999) == Self.sameVisit)
        #expect(script.lines(.approach, at: 600) == Self.fired)
        #expect(script.lines(.approach, at: 599) == Self.fired)
    }

    @Test(arguments: [false, true])
    func `once a trip, a rule fires again on another trip`(restarts: Bool) {
        var script = RuleScript([Self.rule(once: .trip)])
        #expect(script.lines(.enter, at: 0, trip: 1) == Self.fired)
        if restarts { script.restart() }
        #expect(script.lines(.leave, at: 10, trip: 1) == [])
        if restarts { script.restart() }
        #expect(script.lines(.enter, at: 20, trip: 1) == Self.sameTrip)
        #expect(script.lines(.enter, at: 30, trip: 2) == Self.fired)
    }

    @Test func `without a trip, once a trip means once a visit`() {
        var script = RuleScript([Self.rule(on: .dwell, once: .trip)])
        #expect(script.lines(.dwell, at: 0) == Self.fired)
        #expect(script.lines(.dwell, at: 10) == Self.sameVisit)
        #expect(script.lines(.dwell, at: 10, trip: 1) == Self.sameVisit)
        #expect(script.lines(.leave, at: 20) == [])
        #expect(script.stored.isEmpty)
        #expect(script.lines(.dwell, at: 30, trip: 1) == Self.fired)
        #expect(script.lines(.leave, at: 40) == [])
        #expect(script.lines(.dwell, at: 50) == Self.fired)
    }

    @Test(arguments: [false, true])
    func `once a day, a rule fires again on the next local day`(restarts: Bool) {
        // 08:00 UTC is 22:00 at 14 hours ahead.
        var script = RuleScript([Self.rule(once: .day)], utcOffset: 14 * 3600)
        #expect(script.lines(.enter, at: 0) == Self.fired)
        if restarts { script.restart() }
        #expect(script.lines(.leave, at: 10) == [])
        #expect(script.lines(.enter, at: 7199) == Self.sameDay)
        if restarts { script.restart() }
        #expect(script.lines(.enter, at: 7200) == Self.fired)
        #expect(script.lines(.enter, at: 7199) == Self.fired)
    }

    @Test func `the day of a firing is that of its own offset`() {
        // It fired at 08:00Z, when local time was 23:00; now local time is UTC, and the same day has begun again.
        let key = PlaceFiring.Key(rule: "a", placeId: 1)
        let firing = PlaceFiring(key: key, time: RuleScript.date(0), utcOffset: -9 * 3600)
        var book = PlaceRuleBook([Self.rule(once: .day)], firings: [firing], utcOffset: { _ in 0 })
        let ruling = book.judge([RuleScript.occasion(.enter, at: 60)], at: RuleScript.time(60))
        #expect(ruling.due.count == 1)
    }

    @Test(arguments: [false, true])
    func `once ever, a rule does not fire again`(restarts: Bool) {
        var script = RuleScript([Self.rule(once: .ever)])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        #expect(script.lines(.leave, at: 10) == [])
        if restarts { script.restart() }
        let before = ["fetch once: already fired, at 2027-01-15T08:00:00.000Z"]
        #expect(script.lines(.enter, at: 1e9, trip: 7) == before)
        #expect(script.lines(.enter, at: -1e6) == before)
        #expect(script.lines(.enter, at: 20, id: 2) == Self.fired)
    }

    @Test func `a rule may always fire, and is not remembered`() {
        var script = RuleScript([Self.rule(on: .dwell)])
        for _ in 0..<3 { #expect(script.lines(.dwell, at: 0) == Self.fired) }
        #expect(script.stored.isEmpty)
    }

    @Test func `rules are remembered apart`() {
        var script = RuleScript([Self.rule(once: .ever), Self.rule("b", on: .leave, once: .ever)])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        #expect(script.lines(.leave, at: 0) == Self.fired)
        #expect(Set(script.stored.keys.map(\.rule)) == ["a", "b"])
    }

    // MARK: Cooldown and hours

    @Test(arguments: [false, true])
    func `a rule fires again at a place after its cooldown`(restarts: Bool) {
        var script = RuleScript([Self.rule(cooldown: .seconds(300))])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        #expect(script.lines(.leave, at: 10) == [])
        if restarts { script.restart() }
        #expect(script.lines(.enter, at: 60) == ["fetch cooldown: 4m of 5m remained"])
        #expect(script.lines(.enter, at: 60, id: 2) == Self.fired)
        #expect(script.lines(.enter, at: 299.5) == ["fetch cooldown: 1s of 5m remained"])
        #expect(script.lines(.enter, at: 300) == Self.fired)
        #expect(script.lines(.enter, at: 301) == ["fetch cooldown: 299s of 5m remained"])
    }

    @Test func `a cooldown ends when the clock goes back`() {
        var script = RuleScript([Self.rule(cooldown: .seconds(300))])
        #expect(script.lines(.enter, at: 0.0006) == Self.fired)
        // Stored times are rounded, which does not set the clock back.
        #expect(script.lines(.enter, at: 0.0006) == ["fetch cooldown: 5m of 5m remained"])
        #expect(script.lines(.enter, at: -1) == Self.fired)
    }

    @Test func `a rule fires in its hours of local time`() {
        // 08:00 UTC is 09:30.
        var script = RuleScript([Self.rule(hours: "09:30-10:00")], utcOffset: 5400)
        #expect(script.lines(.enter, at: -1) == ["fetch hours: outside 09:30-10:00"])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        #expect(script.lines(.enter, at: 1799) == Self.fired)
        #expect(script.lines(.enter, at: 1800) == ["fetch hours: outside 09:30-10:00"])
    }

    @Test func `the hours are the first reason and the cooldown is the last, and none uses up a firing`() {
        var script = RuleScript([Self.rule(on: .dwell, once: .visit, cooldown: .seconds(60), hours: "08:00-08:01")])
        #expect(script.lines(.dwell, at: -1) == ["fetch hours: outside 08:00-08:01"])
        #expect(script.lines(.dwell, at: 0) == Self.fired)
        #expect(script.lines(.dwell, at: 59) == Self.sameVisit)
        #expect(script.lines(.dwell, at: 60) == ["fetch hours: outside 08:00-08:01"])
        #expect(script.lines(.leave, at: 20) == [])
        #expect(script.lines(.dwell, at: 59) == ["fetch cooldown: 1s of 1m remained"])
    }

    // MARK: Memory

    @Test func `a firing is stored with its time, offset and trip, and deleted when it cannot matter`() {
        let rules = [Self.rule(on: .dwell, once: .visit), Self.rule("b", on: .dwell, once: .day)]
        var script = RuleScript(rules, utcOffset: 3600)
        var expected = ["a", "b"].map {
            let key = PlaceFiring.Key(rule: $0, placeId: 1)
            return PlaceFiring(key: key, time: RuleScript.date(0.25), utcOffset: 3600, tripId: 3)
        }
        let firing = script.judge(RuleScript.occasion(.dwell, at: 0.2504, trip: 3))
        #expect(firing.saved == expected)
        #expect(firing.removed == [])
        let leave = script.judge(RuleScript.occasion(.leave, at: 10))
        expected[1].isVisitOver = true
        #expect(leave.saved == [expected[1]])
        #expect(leave.removed == [expected[0].key])
        let again = script.judge(RuleScript.occasion(.leave, at: 20))
        #expect(again.saved == [])
        #expect(again.removed == [])
    }

    @Test func `a rule that is read again continues, and another may return`() {
        var script = RuleScript([Self.rule(once: .ever)])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        script.book.setRules([Self.rule("b")])
        #expect(script.lines(.enter, at: 10) == Self.fired)
        #expect(script.lines(.leave, at: 20) == [])
        #expect(script.stored.keys.map(\.rule) == ["a"])
        script.book.setRules([Self.rule(once: .day), Self.rule("b")])
        #expect(script.lines(.enter, at: 30) == Self.sameDay + Self.fired)
    }

    @Test func `a firing is deleted when the rule may always fire now`() {
        var script = RuleScript([Self.rule(once: .ever)])
        #expect(script.lines(.enter, at: 0) == Self.fired)
        script.book.setRules([Self.rule()])
        let ruling = script.judge(RuleScript.occasion(.enter))
        #expect(ruling.removed == [PlaceFiring.Key(rule: "a", placeId: 1)])
        let later = script.judge(RuleScript.occasion(.enter))
        #expect(later.saved == [])
        #expect(later.removed == [])
    }

    @Test func `removed places are forgotten`() {
        var script = RuleScript([Self.rule("b", once: .ever), Self.rule(once: .ever)])
        for id in 1...3 { #expect(script.lines(.enter, at: 0, id: id).count == 2) }
        let keys = script.book.placesRemoved([3, 1, 4])
        #expect(keys.map(\.placeId) == [3, 3, 1, 1])
        #expect(keys.map(\.rule) == ["a", "b", "a", "b"])
        #expect(script.book.placesRemoved([3, 1, 4]) == [])
        #expect(script.lines(.enter, at: 10, id: 1) == Self.fired + Self.fired)
        #expect(script.lines(.enter, at: 10, id: 2).allSatisfy { $0.hasPrefix("fetch once") })
    }

    @Test func `a copy of the book does not know a failed transaction`() {
        var book = PlaceRuleBook([Self.rule(once: .ever)], utcOffset: { _ in 0 })
        let before = book
        #expect(book.judge([RuleScript.occasion(.enter)], at: RuleScript.time(0)).due.count == 1)
        book = before
        #expect(book.judge([RuleScript.occasion(.enter)], at: RuleScript.time(0)).due.count == 1)
    }
}
