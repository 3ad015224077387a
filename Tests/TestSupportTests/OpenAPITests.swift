import TestSupport
import Testing

@Suite struct OpenAPITests {
    private static let yaml = """
        openapi: 3.1.0
        paths:
          /things/{id}:
            get:
              responses:
                "200": {$ref: "#/components/responses/Thing"}
                default: {content: {application/json: {schema: {type: object, required: [code]}}}}
            delete: {responses: {"204": {description: Done.}}}
          /things/all:
            get: {responses: {"200": {content: {text/csv: {schema: {type: string}}}}}}
        components:
          responses:
            Thing: {content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}
          schemas:
            Thing:
              type: object
              additionalProperties: false
              required: [id]
              properties:
                id: {type: integer, minimum: 1, maximum: 9}
                kind: {type: string, enum: [big, small]}
                limit: {type: [number, "null"], exclusiveMinimum: 0}
                old: {type: string, nullable: true}
                mode: {oneOf: [{type: boolean}, {const: once}]}
                at: {type: string, format: date-time}
                tags: {type: array, maxItems: 2, items: {type: string}}
        """
    private let interface: OpenAPI
    private let thing: JSONValue = .object(["$ref": .string("#/components/schemas/Thing")])

    init() throws {
        interface = try OpenAPI(yaml: Self.yaml)
    }

    @Test func `operations are found by concrete paths, and a literal path takes precedence`() {
        #expect(interface.operations.count == 3)
        #expect(interface.operation("GET", "/things/7?x=1")?.path == "/things/{id}")
        #expect(interface.operation("GET", "/things/all")?.path == "/things/all")
        #expect(interface.operation("DELETE", "/things/7")?.statuses == [204])
        #expect(interface.operation("POST", "/things/7") == nil)
        #expect(interface.operation("GET", "/things/") == nil)
        #expect(interface.operation("GET", "/things/7/8") == nil)
    }

    @Test(arguments: [
        #"{"id":1}"#,
        #"{"id":9,"kind":"big","limit":null,"old":null,"mode":"once","at":"2026-11-21T06:55:49.786Z","tags":["a","b"]}"#,
        #"{"id":2.0,"limit":0.5,"mode":true}"#,
    ])
    func `a value that matches has no problems`(text: String) throws {
        #expect(interface.problems(of: try JSONValue(parsing: text), against: thing) == [])
    }

    @Test(arguments: [
        (#"{}"#, "$: id is missing"),
        (#"[]"#, "$: array instead of object"),
        (#"{"id":0}"#, "$.id: 0.0 is out of range"),
        (#"{"id":10}"#, "$.id: 10.0 is out of range"),
        (#"{"id":1.5}"#, "$.id: number instead of integer"),
        (#"{"id":true}"#, "$.id: boolean instead of integer"),
        (#"{"id":1,"kind":"huge"}"#, "$.kind: not one of the values"),
        (#"{"id":1,"kind":null}"#, "$.kind: null instead of string"),
        (#"{"id":1,"limit":0}"#, "$.limit: 0.0 is out of range"),
        (#"{"id":1,"mode":"twice"}"#, "$.mode: fits 0 of 2 choices"),
        (#"{"id":1,"at":"yesterday"}"#, #"$.at: "yesterday" is not a time"#),
        (#"{"id":1,"tags":["a",1]}"#, "$.tags[1]: number instead of string"),
        (#"{"id":1,"tags":["a","b","c"]}"#, "$.tags: 3 items"),
        (#"{"id":1,"more":1}"#, "$: more is not documented"),
    ])
    func `each mismatch is reported with its place`(text: String, problem: String) throws {
        #expect(interface.problems(of: try JSONValue(parsing: text), against: thing) == [problem])
    }

    @Test func `an unsupported keyword and a dangling reference are problems`() {
        let multiple: JSONValue = .object(["multipleOf": .number(2)])
        #expect(interface.problems(of: .number(3), against: multiple) == ["$: cannot check multipleOf"])
        let nothing: JSONValue = .object(["$ref": .string("#/components/schemas/Nothing")])
        #expect(interface.problems(of: .string("b"), against: nothing) == ["$: there is no such schema"])
    }

    @Test func `a reply is checked against its status, media type and schema`() {
        let json = ["content-type": "application/json"]
        func problems(_ status: Int, _ headers: [String: String], _ body: String, _ method: String = "GET") -> [String]
        {
            let reply = HTTPReply(status: status, headers: headers, body: Array(body.utf8))
            return interface.problems(of: reply, to: method, "/things/3")
        }
        #expect(problems(200, json, #"{"id":3}"#) == [])
        #expect(problems(404, json, #"{"code":"notFound"}"#) == [])
        #expect(problems(404, json, "{}") == ["GET /things/3: code is missing"])
        #expect(problems(202, json, #"{"id":3}"#) == ["GET /things/3: status 202 is not documented"])
        #expect(problems(200, [:], #"{"id":3}"#) == [#"GET /things/3: "" is not documented for 200"#])
        #expect(problems(200, json, "id=3") == ["GET /things/3: the body is not JSON"])
        #expect(problems(204, [:], "", "DELETE") == [])
        #expect(problems(204, [:], "{}", "DELETE") == ["DELETE /things/3: 204 has a body"])
        #expect(problems(200, json, "{}", "PUT") == ["PUT /things/3 is not documented"])
    }
}
