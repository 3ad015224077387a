import Places
import Testing

@Suite struct PlaceRuleNamesTests {
    private let list = PlaceRuleList([
        ["name": "faulty", "fetch": "unknown"],
        ["name": "a", "on": "enter", "tags": ["stop", "night"], "fetch": "news"],
        ["name": "b", "on": "enter", "places": ["Harbour", "Mill"], "task": "lights"],
        ["name": "c", "on": "leave", "say": "Bye"],
    ])

    private func faults(
        hooks: Set<String> = ["lights"],
        sources: Set<String> = ["news"],
        places: Set<String> = ["Harbour", "Mill"],
        tags: Set<String> = ["night", "stop"]
    ) -> [PlaceRuleFault] {
        list.unknownNames(hooks: hooks, sources: sources, places: places, tags: tags)
    }

    @Test func `names that exist have no faults`() { #expect(faults() == []) }

    @Test func `the names of places and tags are those of the rules without faults`() {
        #expect(list.namedPlaces == ["Harbour", "Mill"])
        #expect(list.namedTags == ["stop", "night"])
    }

    @Test(
        arguments: [
            (["nwes", "other"], "did you mean nwes?"), ([], "add it under fetch.sources, or correct the name"),
        ] as [(Set<String>, String)]
    )
    func `an unknown source is a fault with the name that may be meant`(sources: Set<String>, remedy: String) {
        let faults = faults(sources: sources)
        #expect(
            faults.map(\.description) == [
                #"places.rules.a.fetch: the fetch source "news" does not exist; \#(remedy)"#
            ]
        )
        #expect(faults.map(\.index) == [1])
        #expect(faults.map(\.isWarning) == [false])
    }

    @Test(
        arguments: [
            (["Light", "heating"], "did you mean Light?"),
            (["heating"], "add it under tasks.hooks, or correct the name"),
        ] as [(Set<String>, String)]
    )
    func `an unknown hook is a fault with the name that may be meant`(hooks: Set<String>, remedy: String) {
        let faults = faults(hooks: hooks)
        #expect(
            faults.map(\.description) == [
                #"places.rules.b.task: the task hook "lights" does not exist; \#(remedy)"#
            ]
        )
        #expect(faults.map(\.index) == [2])
        #expect(faults.map(\.isWarning) == [false])
    }

    @Test func `an unknown place or tag is a warning, because it may be added later`() {
        let faults = faults(places: ["Harbour"], tags: ["night"])
        #expect(
            faults.map(\.description) == [
                #"places.rules.a.tags: no place has the tag "stop"; add one, or correct the rule"#,
                #"places.rules.b.places: no place has the name "Mill"; add one, or correct the rule"#,
            ]
        )
        #expect(faults.map(\.isWarning) == [true, true])
    }
}
