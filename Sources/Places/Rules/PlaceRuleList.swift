import BackgrounderAPI
import SystemSupport

/// The rules under `places.rules` of a configuration file, and all their faults.
///
///     let list = PlaceRuleList(value)
///     let faults = list.faults + list.unknownNames(hooks: hooks, sources: sources, places: places, tags: tags)
package struct PlaceRuleList: Sendable {
    /// The rules without faults, in their order.
    package private(set) var rules: [PlaceRule] = []
    /// In the order of the rules. Names that do not exist are not among them.
    package private(set) var faults: [PlaceRuleFault] = []
    /// The index in the file of each rule in ``rules``.
    private var indices: [Int] = []

    /// Tuned: each event is compared with all rules.
    package static let mostRules = 500

    /// Reads the list; `.null` is an empty one.
    package init(_ value: RuleValue) {
        switch value {
        case .null: break
        case .list(let values) where values.count > Self.mostRules:
            // Their faults are not worth the time.
            faults = [
                PlaceRuleFault(
                    problem: "\(values.count) rules are too many",
                    remedy: "use at most \(Self.mostRules), for example with tags instead of places"
                )
            ]
        case .list(let values): read(values)
        case .text, .map:
            faults = [
                PlaceRuleFault(problem: "not a list", remedy: "begin each rule with a line such as - name: next-stop")
            ]
        }
    }

    private mutating func read(_ values: [RuleValue]) {
        var owners: [String: Int] = [:]
        for (index, value) in values.enumerated() {
            var fields = RuleFields(value, known: RuleFields.knownOfRule)
            var name: String?
            if case .map = value {
                name = fields.ruleName()
                if let name, let owner = owners[name] {
                    fields.fault("name", "rule \(owner + 1) has the same name", "use another name")
                } else if let name {
                    owners[name] = index
                }
                if let rule = fields.rule(named: name) {
                    rules.append(rule)
                    indices.append(index)
                }
            }
            faults += fields.faults.map {
                PlaceRuleFault(index: index, rule: name, field: $0.field, problem: $0.problem, remedy: $0.remedy)
            }
        }
    }

    /// The places that rules name.
    package var namedPlaces: Set<String> {
        rules.reduce(into: []) { if case .places(let names) = $1.scope { $0.formUnion(names) } }
    }

    /// The tags that rules name.
    package var namedTags: Set<String> {
        rules.reduce(into: []) { if case .tags(let tags) = $1.scope { $0.formUnion(tags) } }
    }

    /// Returns a fault for each name in a rule that does not exist. Those of places and tags are warnings.
    ///
    /// - Parameters:
    ///   - hooks: the declared task hooks.
    ///   - sources: the declared fetch sources.
    ///   - places: the names of all places, or those in ``namedPlaces`` that exist.
    ///   - tags: all tags, or those in ``namedTags`` that a place has.
    package func unknownNames(hooks: Set<String>, sources: Set<String>, places: Set<String>, tags: Set<String>)
        -> [PlaceRuleFault]
    {
        zip(indices, rules).flatMap { index, rule in
            var faults: [PlaceRuleFault] = []
            if let fetch = rule.fetch, !sources.contains(fetch) {
                faults.append(
                    Self.unknown(
                        "fetch source",
                        fetch,
                        among: sources,
                        section: "fetch.sources",
                        field: "fetch",
                        rule,
                        index
                    )
                )
            }
            if let task = rule.task, !hooks.contains(task) {
                faults.append(
                    Self.unknown("task hook", task, among: hooks, section: "tasks.hooks", field: "task", rule, index)
                )
            }
            switch rule.scope {
            case .all: break
            case .places(let names):
                faults += names.filter { !places.contains($0) }.map {
                    Self.warning("no place has the name \($0.quotedInMessage)", field: "places", rule, index)
                }
            case .tags(let names):
                faults += names.filter { !tags.contains($0) }.map {
                    Self.warning("no place has the tag \($0.quotedInMessage)", field: "tags", rule, index)
                }
            }
            return faults
        }
    }

    private static func unknown(
        _ noun: String,
        _ name: String,
        among names: Set<String>,
        section: String,
        field: String,
        _ rule: PlaceRule,
        _ index: Int
    ) -> PlaceRuleFault {
        let meant = Spelling.closest(to: name, among: names.sorted())
        return PlaceRuleFault(
            index: index,
            rule: rule.name,
            field: field,
            problem: "the \(noun) \(name.quotedInMessage) does not exist",
            remedy: meant.map { "did you mean \($0)?" } ?? "add it under \(section), or correct the name"
        )
    }

    private static func warning(_ problem: String, field: String, _ rule: PlaceRule, _ index: Int) -> PlaceRuleFault {
        PlaceRuleFault(
            index: index,
            rule: rule.name,
            field: field,
            problem: problem,
            remedy: "add one, or correct the rule",
            isWarning: true
        )
    }
}
