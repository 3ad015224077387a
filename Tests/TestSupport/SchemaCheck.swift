import Foundation

/// Checks a value against the part of JSON Schema that our description uses.
///
/// Any other keyword is a problem, so that nothing is left unchecked.
struct SchemaCheck {
    let resolve: (JSONValue) -> JSONValue

    private static let known: Set<String> = [
        "type", "nullable", "enum", "const", "required", "properties", "additionalProperties", "items", "prefixItems",
        "oneOf", "allOf", "not",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "minProperties",
        "maxProperties", "minLength", "maxLength", "pattern",
        "format", "default", "description", "title", "example", "examples",
    ]

    func problems(of value: JSONValue, against schema: JSONValue, at place: String) -> [String] {
        let schema = resolve(schema)
        guard let keywords = schema.object else { return ["\(place): there is no such schema"] }
        let unknown = keywords.keys.filter { !Self.known.contains($0) && !$0.hasPrefix("x-") }
        if !unknown.isEmpty { return ["\(place): cannot check \(unknown.sorted().joined(separator: ", "))"] }
        if value == .null, keywords["nullable"] == .bool(true) { return [] }
        if let type = keywords["type"], !types(type).contains(where: { value.isOf($0) }) {
            return ["\(place): \(value.kind) instead of \(types(type).joined(separator: " or "))"]
        }
        var problems: [String] = []
        if let allowed = keywords["enum"]?.array, !allowed.contains(value) {
            problems.append("\(place): not one of the values")
        }
        if let only = keywords["const"], value != only { problems.append("\(place): not the value") }
        if let choices = keywords["oneOf"]?.array {
            let fitting = choices.filter { self.problems(of: value, against: $0, at: place).isEmpty }
            if fitting.count != 1 { problems.append("\(place): fits \(fitting.count) of \(choices.count) choices") }
        }
        problems += (keywords["allOf"]?.array ?? []).flatMap { self.problems(of: value, against: $0, at: place) }
        if let other = keywords["not"], self.problems(of: value, against: other, at: place).isEmpty {
            problems.append("\(place): matches a schema that it must not match")
        }
        switch value {
        case .object(let members): problems += check(members, keywords, place)
        case .array(let elements): problems += check(elements, keywords, place)
        case .number(let number): problems += check(number, keywords, place)
        case .string(let text): problems += check(text, keywords, place)
        case .null, .bool: break
        }
        return problems
    }

    private func types(_ value: JSONValue) -> [String] {
        value.string.map { [$0] } ?? value.array?.compactMap(\.string) ?? []
    }

    private func check(_ members: [String: JSONValue], _ keywords: [String: JSONValue], _ place: String) -> [String] {
        let required = keywords["required"]?.array?.compactMap(\.string) ?? []
        var problems = required.filter { members[$0] == nil }.map { "\(place): \($0) is missing" }
        problems += limits("properties", members.count, keywords["minProperties"], keywords["maxProperties"], place)
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            if let schema = keywords["properties"]?[name] {
                problems += self.problems(of: member, against: schema, at: "\(place).\(name)")
            } else {
                switch keywords["additionalProperties"] {
                case .bool(false): problems.append("\(place): \(name) is not documented")
                case .object(let schema):
                    problems += self.problems(of: member, against: .object(schema), at: "\(place).\(name)")
                default: break
                }
            }
        }
        return problems
    }

    private func check(_ elements: [JSONValue], _ keywords: [String: JSONValue], _ place: String) -> [String] {
        limits("items", elements.count, keywords["minItems"], keywords["maxItems"], place)
            + bytes(elements.compactMap(\.string).reduce(0) { $0 + $1.utf8.count + 1 }, keywords, place)
            + zip(elements, keywords["prefixItems"]?.array ?? []).flatMap { problems(of: $0, against: $1, at: place) }
            + (keywords["items"].map { schema in
                elements.enumerated().flatMap { problems(of: $1, against: schema, at: "\(place)[\($0)]") }
            } ?? [])
    }

    /// Checks our own keyword `x-maxBytes`; JSON Schema limits only the number of characters.
    private func bytes(_ count: Int, _ keywords: [String: JSONValue], _ place: String) -> [String] {
        Double(count) <= keywords["x-maxBytes"]?.number ?? .infinity ? [] : ["\(place): \(count) bytes"]
    }

    private func limits(_ what: String, _ count: Int, _ least: JSONValue?, _ most: JSONValue?, _ place: String)
        -> [String]
    {
        let range = (least?.number ?? 0)...(most?.number ?? .infinity)
        return range.contains(Double(count)) ? [] : ["\(place): \(count) \(what)"]
    }

    private func check(_ number: Double, _ keywords: [String: JSONValue], _ place: String) -> [String] {
        let isInside =
            number >= keywords["minimum"]?.number ?? -.infinity && number <= keywords["maximum"]?.number ?? .infinity
            && number > keywords["exclusiveMinimum"]?.number ?? -.infinity
            && number < keywords["exclusiveMaximum"]?.number ?? .infinity
        return isInside ? [] : ["\(place): \(number) is out of range"]
    }

    private func check(_ text: String, _ keywords: [String: JSONValue], _ place: String) -> [String] {
        let length = text.unicodeScalars.count
        let problems =
            limits("characters", length, keywords["minLength"], keywords["maxLength"], place)
            + bytes(text.utf8.count, keywords, place)
        if !problems.isEmpty { return problems }
        if let pattern = keywords["pattern"]?.string {
            guard let expression = try? Regex(pattern) else { return ["\(place): \(pattern) is not a valid pattern"] }
            if text.firstMatch(of: expression) == nil {
                return ["\(place): \(text.debugDescription) does not match the pattern"]
            }
        }
        switch keywords["format"]?.string {
        case "date-time":
            let pattern = #/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})/#
            return text.wholeMatch(of: pattern) == nil ? ["\(place): \(text.debugDescription) is not a time"] : []
        default: return []
        }
    }
}

extension JSONValue {
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    fileprivate func isOf(_ type: String) -> Bool {
        if case .number(let value) = self, type == "integer" { return value == value.rounded() }
        return kind == type
    }
}
