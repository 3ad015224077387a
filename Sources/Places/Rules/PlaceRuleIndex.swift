import BackgrounderAPI

/// Rules by what they are for, so that an event is not compared with each of them.
struct PlaceRuleIndex: Sendable {
    /// In the order of the file.
    let all: [PlaceRule]
    private var positions: [Key: [Int]] = [:]
    private var positionsByName: [String: Int] = [:]

    private struct Key: Hashable {
        enum Scope: Hashable {
            case all
            case tag(String)
            case name(String)
        }

        var event: PlaceEventKind
        var scope: Scope
    }

    init(_ rules: [PlaceRule]) {
        all = rules
        for (position, rule) in rules.enumerated() {
            if positionsByName[rule.name] == nil { positionsByName[rule.name] = position }
            let scopes: [Key.Scope] =
                switch rule.scope {
                case .all: [.all]
                case .tags(let tags): tags.map { .tag($0) }
                case .places(let names): names.map { .name($0) }
                }
            for scope in scopes { positions[Key(event: rule.event, scope: scope), default: []].append(position) }
        }
    }

    /// Returns the rule with a name; `nil` if there is none.
    func named(_ name: String) -> PlaceRule? { positionsByName[name].map { all[$0] } }

    /// Returns the positions in ``all`` of the rules for events at a place, in their order.
    func positions(on events: [PlaceEventKind], at place: PlaceDefinition) -> [Int] {
        var found: Set<Int> = []
        for event in events {
            found.formUnion(positions[Key(event: event, scope: .all)] ?? [])
            found.formUnion(positions[Key(event: event, scope: .name(place.name))] ?? [])
            for tag in place.tags { found.formUnion(positions[Key(event: event, scope: .tag(tag))] ?? []) }
        }
        return found.sorted()
    }
}
