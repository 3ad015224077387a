import Foundation
import Synchronization
import Yams

/// The description of an HTTP interface, to check a running service against.
///
///     let interface = try OpenAPI(contentsOf: "Packaging/openapi.yaml")
///     #expect(interface.problems(of: reply, to: "GET", "/v1/status") == [])
package struct OpenAPI: Sendable {
    /// One method of one path.
    package struct Operation: Sendable {
        package var method: String
        /// The path, with `{name}` for each parameter.
        package var path: String
        package var description: JSONValue

        /// The documented statuses except `default`.
        package var statuses: [Int] {
            (description["responses"]?.object ?? [:]).keys.compactMap(Int.init).sorted()
        }
    }

    package let document: JSONValue
    /// Ordered by path and method.
    package let operations: [Operation]

    private static let read = Mutex<[String: OpenAPI]>([:])

    /// Parses a file once for all tests, as that takes about a second.
    package init(contentsOf path: String) throws {
        self = try Self.read.withLock { read in
            if let known = read[path] { return known }
            let new = try OpenAPI(yaml: String(contentsOfFile: path, encoding: .utf8))
            read[path] = new
            return new
        }
    }

    package init(yaml: String) throws {
        document = try JSONValue(yaml: try Yams.load(yaml: yaml))
        let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
        operations = (document["paths"]?.object ?? [:]).sorted { $0.key < $1.key }.flatMap { path, item in
            methods.compactMap { method in
                item[method].map { Operation(method: method.uppercased(), path: path, description: $0) }
            }
        }
    }

    /// Returns the operation for `path`, which may have a query and values for parameters.
    ///
    /// A path without parameters takes precedence.
    package func operation(_ method: String, _ path: String) -> Operation? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let fitting = operations.filter { operation in
            let own = operation.path.split(separator: "/", omittingEmptySubsequences: false)
            return operation.method == method && own.count == parts.count
                && zip(own, parts).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
        }
        return fitting.first { !$0.path.contains("{") } ?? fitting.first
    }

    /// Returns the problems of `reply`: an undocumented status or media type, or a body that does not match its schema.
    package func problems(of reply: HTTPReply, to method: String, _ path: String) -> [String] {
        guard let operation = operation(method, path) else { return ["\(method) \(path) is not documented"] }
        let responses = operation.description["responses"] ?? .null
        guard let response = responses[String(reply.status)] ?? (reply.status >= 400 ? responses["default"] : nil)
        else {
            return ["\(method) \(path): status \(reply.status) is not documented"]
        }
        guard let content = resolved(response)["content"] else {
            return reply.body.isEmpty ? [] : ["\(method) \(path): \(reply.status) has a body"]
        }
        let mediaType = reply.headers["content-type"]?.prefix { $0 != ";" } ?? ""
        guard let media = content[String(mediaType)] else {
            return ["\(method) \(path): \(mediaType.debugDescription) is not documented for \(reply.status)"]
        }
        guard let schema = media["schema"] else { return [] }
        if mediaType == "application/x-ndjson" {
            return reply.text.split(separator: "\n").flatMap { line in
                guard let value = try? JSONValue(parsing: String(line)) else { return ["\(line) is not JSON"] }
                return problems(of: value, against: schema, at: "\(method) \(path)")
            }
        }
        guard mediaType == "application/json" else { return [] }
        guard let value = try? reply.json() else { return ["\(method) \(path): the body is not JSON"] }
        return problems(of: value, against: schema, at: "\(method) \(path)")
    }

    /// Returns the problems of an event's data, which the extension `x-events` of the event stream describes.
    package func problems(ofEvent name: String, _ data: JSONValue, from path: String = "/v1/events") -> [String] {
        guard let schema = operation("GET", path)?.description["x-events"]?[name] else {
            return ["the event \(name) is not documented"]
        }
        return problems(of: data, against: schema, at: name)
    }

    /// Returns the schema of the request body, or `nil` if there is none.
    package func requestSchema(_ method: String, _ path: String) -> JSONValue? {
        operation(method, path)?.description["requestBody"]
            .flatMap { resolved($0)["content"]?["application/json"]?["schema"] }
    }

    /// Returns the problems of `value`, one line per place. Empty if the value matches.
    package func problems(of value: JSONValue, against schema: JSONValue, at place: String = "$") -> [String] {
        SchemaCheck(resolve: resolved).problems(of: value, against: schema, at: place)
    }

    /// Returns `value`, or the target of its `$ref` within this document.
    package func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.string else { return value }
        let target = reference.split(separator: "/").dropFirst().reduce(document) { ($0[String($1)]) ?? .null }
        return target["$ref"] == nil ? target : resolved(target)
    }
}

extension JSONValue {
    /// Converts the output of a YAML parser.
    fileprivate init(yaml value: Any?) throws {
        switch value {
        case nil, is NSNull: self = .null
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .number(Double(value))
        case let value as Double: self = .number(value)
        case let value as String: self = .string(value)
        case let value as [Any]: self = .array(try value.map { try JSONValue(yaml: $0) })
        case let value as [AnyHashable: Any]:
            let members = try value.map { (String(describing: $0.base), try JSONValue(yaml: $1)) }
            self = .object(try Dictionary(members) { _, _ in throw NotJSON(value: "a duplicate key") })
        case let other?: throw NotJSON(value: String(describing: other))
        }
    }

    /// A value that YAML has and JSON does not.
    private struct NotJSON: Error {
        var value: String
    }
}
