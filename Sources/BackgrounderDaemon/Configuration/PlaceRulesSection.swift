import Places
import Yams

extension PlaceRuleFault {
    /// Returns the place of the fault in the file at `path`, where `value` is the list of rules.
    func place(in value: Node, of path: String, otherwise place: ConfigurationPlace) -> ConfigurationPlace {
        guard let index, case .sequence(let rules) = value, rules.indices.contains(index) else { return place }
        var (line, node) = (rules[index].line, rules[index])
        for part in (field ?? "").split(separator: ".") {
            guard case .mapping(let mapping) = node,
                let entry = mapping.first(where: { YAMLDocument.name(of: $0.key) == part })
            else { break }
            (line, node) = (entry.key.line, entry.value)
        }
        return .line(line, of: path)
    }
}

extension RuleValue {
    /// Converts a value of the file. Of a repeated key, which is reported elsewhere, the first one counts.
    init(_ node: Node) {
        switch node {
        case .scalar(let scalar): self = node.isNull ? .null : .text(scalar.string)
        case .sequence(let nodes): self = .list(nodes.map { RuleValue($0) })
        case .mapping(let mapping):
            var names: Set<String> = []
            self = .map(
                mapping.compactMap { key, value in
                    let name = YAMLDocument.name(of: key)
                    return names.insert(name).inserted ? (name, RuleValue(value)) : nil
                }
            )
        case .alias: self = .null
        }
    }
}
