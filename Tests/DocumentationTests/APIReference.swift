import TestSupport

/// Renders the tables of `docs/api.md` below its introduction from `Packaging/openapi.yaml`: routes, events and values.
struct APIReference {
    private let interface: OpenAPI

    init() throws {
        interface = try OpenAPI(contentsOf: Repository.root + "/Packaging/openapi.yaml")
    }

    func markdown() -> String {
        (routes + events + values).joined(separator: "\n")
    }

    private var routes: [String] {
        let rows = interface.operations.map { operation in
            let statuses = operation.statuses.filter { $0 < 300 }.map(String.init).joined(separator: ", ")
            let cells = [
                "`\(operation.method) \(operation.path)`", access(of: operation),
                query(of: operation), body(of: operation), [statuses, reply(of: operation)].joined(separator: " "),
                operation.description["summary"]?.string ?? "",
            ]
            return row(cells)
        }
        return ["## Routes", ""] + table(["route", "access", "query", "body", "reply", "purpose"], rows)
    }

    private var events: [String] {
        let schemas = interface.operation("GET", "/v1/events")?.description["x-events"]?.object ?? [:]
        let rows = schemas.sorted { $0.key < $1.key }.map { row(["`\($0.key)`", typeName(of: $0.value)]) }
        return ["## Events", ""] + table(["event", "data"], rows)
    }

    private var values: [String] {
        let schemas = interface.document["components"]?["schemas"]?.object ?? [:]
        return ["## Values", ""] + schemas.sorted { $0.key < $1.key }.flatMap { name, schema in value(name, schema) }
    }

    private func value(_ name: String, _ schema: JSONValue) -> [String] {
        let properties = (schema["properties"]?.object ?? [:]).sorted { $0.key < $1.key }
        let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
        var lines = ["### \(name)", ""]
        if let text = schema["description"]?.string { lines += [oneLine(text), ""] }
        guard !properties.isEmpty else { return lines + ["Type: \(typeName(of: schema)).", ""] }
        let rows = properties.map { key, property in
            row([
                "`\(key)`", typeName(of: property), required.contains(key) ? "always" : "",
                property["description"]?.string ?? "",
            ])
        }
        return lines + table(["field", "type", "present", "meaning"], rows)
    }

    private func access(of operation: OpenAPI.Operation) -> String {
        let level = operation.description["x-access"]?.string ?? ""
        return operation.description["x-local"] == nil ? level : level + ", local"
    }

    private func query(of operation: OpenAPI.Operation) -> String {
        (operation.description["parameters"]?.array ?? []).map(interface.resolved)
            .filter { $0["in"]?.string == "query" }
            .compactMap { $0["name"]?.string.map { "`\($0)`" } }.joined(separator: ", ")
    }

    private func body(of operation: OpenAPI.Operation) -> String {
        interface.requestSchema(operation.method, operation.path).map(typeName) ?? ""
    }

    private func reply(of operation: OpenAPI.Operation) -> String {
        let responses = operation.description["responses"]?.object ?? [:]
        let schemas = responses.sorted { $0.key < $1.key }.filter { $0.key.hasPrefix("2") }.compactMap { _, response in
            (interface.resolved(response)["content"]?.object ?? [:])["application/json"]?["schema"].map(typeName)
        }
        return schemas.joined(separator: ", ")
    }

    /// The type of `schema` in words, with a link to the value that it refers to.
    private func typeName(of schema: JSONValue) -> String {
        if let reference = schema["$ref"]?.string, let name = reference.split(separator: "/").last {
            return "[\(name)](#\(name.lowercased()))"
        }
        if let choices = schema["enum"]?.array {
            return choices.map { "`\(literal($0))`" }.joined(separator: ", ")
        }
        if let choices = schema["oneOf"]?.array ?? schema["anyOf"]?.array {
            return choices.map(typeName).joined(separator: " or ")
        }
        if let items = schema["items"] { return "list of \(typeName(of: items))" }
        if let types = schema["type"]?.array { return types.compactMap(\.string).joined(separator: " or ") }
        if let constant = schema["const"] { return "`\(literal(constant))`" }
        return schema["type"]?.string ?? "any"
    }

    /// The value as JSON writes it, a text without quotes.
    private func literal(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .bool(let isTrue): "\(isTrue)"
        default: "null"
        }
    }

    private func table(_ head: [String], _ rows: [String]) -> [String] {
        [row(head), "|" + String(repeating: "---|", count: head.count)] + rows + [""]
    }

    private func row(_ cells: [String]) -> String {
        "| " + cells.map { oneLine($0).replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    private func oneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
