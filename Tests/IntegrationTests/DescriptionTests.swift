import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The running service answers as Packaging/openapi.yaml says: every operation, with every kind of refusal.
@Suite(.sharing) struct DescriptionTests {
    private let interface: OpenAPI
    private let service: Service

    init() async throws {
        interface = try OpenAPI(contentsOf: Products.repository("Packaging/openapi.yaml"))
        service = try Service(
            TestConfiguration(
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                queue: [Products.repository("media")]
            )
        )
        try await service.start()
        let events = try service.events()
        try await events.wait(for: "10 points") { $0.count("location") >= 10 ? true : nil }
    }

    /// Sends a request, which must be answered with `status`, and as the description says.
    @discardableResult
    private func send(
        _ status: Int,
        _ method: String,
        _ target: String,
        _ body: String? = nil,
        on connection: HTTPConnection,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> HTTPReply {
        let reply = try await connection.send(method, target, body: body)
        let request = "\(method) \(target) \(body ?? "")"
        #expect(reply.status == status, "\(request): \(reply.text)", sourceLocation: sourceLocation)
        let problems = interface.problems(of: reply, to: method, target)
        #expect(problems == [], "\(request): \(reply.text)", sourceLocation: sourceLocation)
        let version = reply.headers["backgrounder-version"]
        #expect(version == Backgrounder.version, "\(request)", sourceLocation: sourceLocation)
        if status >= 400 {
            let code = (try? reply.json()["code"]?.string).flatMap { $0 }.flatMap(WireError.Code.init)
            #expect(code?.httpStatus == status, "\(request): \(reply.text)", sourceLocation: sourceLocation)
        }
        return reply
    }

    @Test("Every operation succeeds as described")
    func successes() async throws {
        let tune = Samples.tunes[0]
        let requests: [(Int, String, String, String?)] = [
            (200, "GET", "/v1/status", nil), (200, "GET", "/v1/location", nil), (200, "PATCH", "/v1/location", "{}"),
            (200, "PATCH", "/v1/location", #"{"desiredAccuracy":"kilometer","distanceFilter":3.5}"#),
            (200, "PATCH", "/v1/location", #"{"maximumAccuracy":20,"updating":false}"#),
            (200, "PATCH", "/v1/location", #"{"maximumAccuracy":null,"updating":true}"#),
            (200, "GET", "/v1/track", nil), (200, "GET", "/v1/track?last=5", nil),
            (200, "GET", "/v1/track/history", nil),
            (200, "GET", "/v1/track/history?since=2000-01-01T00:00:00Z&until=2100-01-01T00:00:00.5Z", nil),
            (200, "GET", "/v1/track/history?format=geojson", nil), (200, "GET", "/v1/track/history?format=gpx", nil),
            (200, "GET", "/v1/track/history?format=kml", nil), (200, "GET", "/v1/track/history?format=csv", nil),
            (200, "GET", "/v1/track/history?format=json", nil), (200, "GET", "/v1/track/trips", nil),
            (200, "GET", "/v1/track/trips?since=2000-01-01T00:00:00Z&until=2100-01-01T00:00:00Z", nil),
            (200, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)"}"#), (200, "GET", "/v1/track/trips", nil),
            (200, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","raw":true}"#),
            (200, "GET", "/v1/track/history?trip=1", nil),
            (200, "GET", "/v1/audio", nil), (200, "GET", "/v1/audio/drivers", nil), (200, "GET", "/v1/queue", nil),
            (200, "PATCH", "/v1/audio", #"{"volume":50,"repeat":true,"consume":false,"random":false}"#),
            (200, "PATCH", "/v1/audio", #"{"single":"oneshot"}"#), (200, "PATCH", "/v1/audio", #"{"single":false}"#),
            (200, "POST", "/v1/audio/play", "{}"), (200, "POST", "/v1/audio/seek", #"{"to":2}"#),
            (200, "POST", "/v1/audio/seek", #"{"by":-1.5}"#), (200, "POST", "/v1/audio/pause", nil),
            (200, "POST", "/v1/audio/toggle", nil), (200, "POST", "/v1/audio/next", "{}"),
            (200, "POST", "/v1/audio/previous", "{}"), (200, "POST", "/v1/audio/play", #"{"id":2}"#),
            (200, "POST", "/v1/audio/play", #"{"items":["\#(tune)"]}"#), (200, "POST", "/v1/audio/stop", nil),
            (201, "POST", "/v1/queue", #"{"items":["\#(tune)","\#(Products.repository("media"))"]}"#),
            (201, "POST", "/v1/queue", #"{"items":["\#(tune)"],"position":0}"#),
            (200, "PATCH", "/v1/queue/3", #"{"position":0}"#), (204, "DELETE", "/v1/queue/3", nil),
            (200, "POST", "/v1/queue/shuffle", nil), (204, "DELETE", "/v1/queue", nil), (200, "GET", "/v1/queue", nil),
            (200, "POST", "/v1/reload", "{}"), (200, "GET", "/v1/status", nil),
        ]
        let connection = try service.connection()
        var seen: Set<String> = []
        for (status, method, target, body) in requests {
            try await send(status, method, target, body, on: connection)
            seen.insert(try name(method, target))
        }
        seen.insert(try await events())
        let reply = try await send(202, "POST", "/v1/stop", on: connection)
        #expect(try reply.json()["pid"]?.number != nil)
        seen.insert(try name("POST", "/v1/stop"))
        #expect(seen == Set(interface.operations.map { "\($0.method) \($0.path)" }))
    }

    private func name(_ method: String, _ target: String) throws -> String {
        let operation = try #require(interface.operation(method, target), "\(method) \(target) is not described")
        return "\(operation.method) \(operation.path)"
    }

    /// Reads events until each kind was there, and holds each against its schema.
    private func events() async throws -> String {
        let commands = try service.connection()
        let watcher = try service.events(attach: true, observe: "50ms")
        try await watcher.wait(for: "state") { $0.count("state") > 0 ? true : nil }
        try await send(200, "POST", "/v1/audio/play", #"{"items":["\#(Samples.tunes[1])"]}"#, on: commands)
        let second = try service.events(attach: true)
        let kinds = ["state", "location", "currentItem", "time", "lifecycle"]
        let received = try await watcher.wait(for: "every kind of event") { received in
            kinds.allSatisfy { received.count($0) > 0 } ? received : nil
        }
        second.detach()
        for kind in kinds {
            for payload in received.payloads(kind) {
                let data = try JSONValue(parsing: String(payload))
                #expect(interface.problems(ofEvent: kind, data) == [], "\(payload)")
            }
        }
        let names = received.lines.filter { $0.hasPrefix("event: ") }.map { $0.dropFirst("event: ".count) }
        #expect(Set(names.map(String.init)).isSubset(of: kinds))
        let head = try service.connection()
        try await head.begin("GET", Routes.eventsPath)
        let reply = try await head.head()
        #expect(reply.status == 200 && reply.headers["content-type"] == "text/event-stream")
        #expect(reply.headers["backgrounder-version"] == Backgrounder.version)
        return "GET \(Routes.eventsPath)"
    }

    @Test("Every operation refuses what it does not take, as described, and nothing of it is applied")
    func refusals() async throws {
        let connection = try service.connection()
        let before = try await connection.send("GET", "/v1/queue").json()
        for operation in interface.operations where operation.description["requestBody"] != nil {
            let path = operation.path.replacing("{id}", with: "1")
            try await send(400, operation.method, path, "{\"a\":", on: connection)
            try await send(400, operation.method, path, "no JSON", on: connection)
            try await send(400, operation.method, path, "{} {}", on: connection)
            try await send(422, operation.method, path, "[]", on: connection)
            try await send(422, operation.method, path, #"{"dance":true}"#, on: connection)
            try await send(422, operation.method, path, "3", on: connection)
        }
        let refused: [(Int, String, String, String?)] = [
            (422, "PATCH", "/v1/location", #"{"desiredAccuracy":"superb"}"#),
            (422, "PATCH", "/v1/location", #"{"distanceFilter":-1}"#),
            (422, "PATCH", "/v1/location", #"{"distanceFilter":"10"}"#),
            (422, "PATCH", "/v1/location", #"{"maximumAccuracy":0}"#),
            (422, "PATCH", "/v1/location", #"{"distanceFilter":7,"updating":1}"#),
            (422, "PATCH", "/v1/audio", #"{"volume":101}"#), (422, "PATCH", "/v1/audio", #"{"volume":50,"repeat":3}"#),
            (422, "PATCH", "/v1/audio", #"{"volume":1.5}"#), (422, "PATCH", "/v1/audio", #"{"single":"twice"}"#),
            (404, "POST", "/v1/audio/play", #"{"id":99}"#),
            (404, "POST", "/v1/audio/play", #"{"items":["/nowhere.mp3"]}"#),
            (422, "POST", "/v1/audio/play", #"{"id":1,"items":["/a"]}"#),
            (409, "POST", "/v1/audio/seek", #"{"to":1}"#), (409, "POST", "/v1/audio/seek", #"{"by":1}"#),
            (422, "POST", "/v1/audio/seek", "{}"), (422, "POST", "/v1/audio/seek", #"{"to":1,"by":1}"#),
            (422, "POST", "/v1/queue", #"{"items":[]}"#), (422, "POST", "/v1/queue", #"{"items":["relative.mp3"]}"#),
            (404, "POST", "/v1/queue", #"{"items":["/nowhere.mp3"]}"#),
            (422, "POST", "/v1/queue", #"{"items":["\#(Samples.tunes[0])"],"position":99}"#),
            (404, "PATCH", "/v1/queue/99", #"{"position":0}"#), (422, "PATCH", "/v1/queue/1", #"{"position":99}"#),
            (422, "PATCH", "/v1/queue/1", #"{"position":-1}"#), (404, "DELETE", "/v1/queue/99", nil),
            (404, "DELETE", "/v1/queue/x", nil), (422, "GET", "/v1/track?last=0", nil),
            (422, "GET", "/v1/track?last=x", nil), (422, "GET", "/v1/track/history?since=soon", nil),
            (422, "GET", "/v1/track/history?format=pdf", nil), (422, "GET", "/v1/track/history?trip=x", nil),
            (404, "GET", "/v1/track/history?trip=99", nil), (422, "GET", "/v1/track/trips?since=soon", nil),
            (422, "GET", "/v1/track/trips?trip=1", nil), (422, "POST", "/v1/track/import", "{}"),
            (422, "POST", "/v1/track/import", #"{"path":"relative.gpx"}"#),
            (404, "POST", "/v1/track/import", #"{"path":"/nowhere.gpx"}"#),
            (422, "POST", "/v1/track/import", #"{"path":"/tmp"}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","distanceFilter":-1}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","maximumAccuracy":0}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","raw":true,"distanceFilter":1}"#),
            (422, "GET", "/v1/events?attach=2", nil),
            (422, "GET", "/v1/events?observe=1ms", nil),
        ]
        for (status, method, target, body) in refused { try await send(status, method, target, body, on: connection) }
        #expect(try await connection.send("GET", "/v1/queue").json() == before)
        let settings: LocationStatus = try await service.get("/v1/location", on: connection)
        #expect(settings.distanceFilter == 0 && settings.maximumAccuracy == nil && settings.updating)
        let audio: AudioStatus = try await service.get("/v1/audio", on: connection)
        #expect(audio.volume == 100 && !audio.repeat && audio.timeControlStatus == .stopped)
        _ = try await connection.send("DELETE", "/v1/queue")
        try await send(409, "POST", "/v1/audio/play", "{}", on: connection)
    }

    @Test("What is not described is not there: other methods are 405 with Allow, other paths 404")
    func undescribed() async throws {
        let connection = try service.connection()
        let methods = ["GET", "POST", "PATCH", "DELETE", "PUT"]
        for path in Set(interface.operations.map(\.path)) {
            let described = Set(interface.operations.filter { $0.path == path }.map(\.method))
            for method in methods where !described.contains(method) {
                let reply = try await connection.send(method, path.replacing("{id}", with: "1"), body: "{}")
                #expect(reply.status == 405, "\(method) \(path): \(reply.text)")
                let allowed = reply.headers["allow"]?.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(Set(allowed ?? []).isSuperset(of: described), "\(method) \(path): \(reply.headers)")
                #expect(try JSON.decode(WireError.self, from: Data(reply.body)).code == .methodNotAllowed)
            }
        }
        for path in ["/", "/v1", "/v2/status", "/v1/audio/dance", "/v1/queue/1/2", "/v1/tasks"] {
            let reply = try await connection.send("GET", path)
            #expect(reply.status == 404, "\(path): \(reply.text)")
            #expect(try JSON.decode(WireError.self, from: Data(reply.body)).code == .notFound)
        }
    }

    @Test("Every route of the table is described, and no other")
    func routes() throws {
        let file = Products.repository("Sources/BackgrounderAPI/Route.swift")
        let source = try String(contentsOfFile: file, encoding: .utf8)
        let calls = source.matches(of: /\(\.(get|post|patch|delete), "(\/v1[^"]*)"/)
            .map { "\($0.output.1.uppercased()) \($0.output.2)" }
        let streams = source.matches(of: /Path = "(\/v1[^"]*)"/).map { "GET \($0.output.1)" }
        #expect(calls.count > 20 && streams.count == 2)
        #expect(Set(calls + streams) == Set(interface.operations.map { "\($0.method) \($0.path)" }))
    }
}
