import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// The running service conforms to Packaging/openapi.yaml: every operation, with every kind of refusal.
@Suite(.sharing) struct DescriptionTests {
    private let interface: OpenAPI
    private let service: Service

    init() async throws {
        interface = try OpenAPI(contentsOf: Products.repository("Packaging/openapi.yaml"))
        service = try Service(
            TestConfiguration(
                modes: "[audio, location, fetch, remote-notification]",
                source: "gpx:\(Products.repository("tracks/freeway-drive.gpx"))?rate=20",
                queue: [Products.repository("media")],
                musicDirectory: Products.repository("media")
            )
        )
        try await service.start()
        let events = try service.events()
        try await events.wait(for: "10 points") { $0.count("location") >= 10 ? true : nil }
    }

    /// Sends a request and expects `status` and a reply that conforms to the description.
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

    @Test func `every operation succeeds as described`() async throws {
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
            (200, "GET", "/v1/health", nil), (200, "POST", "/v1/health/acknowledge", "{}"),
            (200, "GET", "/v1/track/trips?since=2000-01-01T00:00:00Z&until=2100-01-01T00:00:00Z", nil),
            (200, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)"}"#), (200, "GET", "/v1/track/trips", nil),
            (200, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","raw":true}"#),
            (200, "GET", "/v1/track/history?trip=1", nil),
            (200, "DELETE", "/v1/track/history?until=1999-01-01T00:00:00Z", nil),
            (200, "DELETE", "/v1/track/history?trip=1&trial=1", nil),
            (200, "GET", "/v1/audio", nil), (200, "GET", "/v1/audio/drivers", nil), (200, "GET", "/v1/queue", nil),
            (200, "PATCH", "/v1/audio", #"{"volume":50,"repeat":true,"consume":false,"random":false}"#),
            (200, "PATCH", "/v1/audio", #"{"outputEnabled":true}"#),
            (200, "PATCH", "/v1/audio", #"{"single":"oneshot"}"#), (200, "PATCH", "/v1/audio", #"{"single":false}"#),
            (200, "POST", "/v1/audio/play", "{}"), (200, "POST", "/v1/audio/seek", #"{"to":2}"#),
            (200, "POST", "/v1/audio/seek", #"{"by":-1.5}"#), (200, "POST", "/v1/audio/pause", nil),
            (200, "POST", "/v1/audio/toggle", nil), (200, "POST", "/v1/audio/next", "{}"),
            (200, "POST", "/v1/audio/previous", "{}"), (200, "POST", "/v1/audio/play", #"{"id":2}"#),
            (200, "POST", "/v1/audio/play", #"{"items":["\#(tune)"]}"#), (200, "POST", "/v1/audio/stop", nil),
            (200, "POST", "/v1/audio/interrupt", #"{"item":"\#(tune)"}"#),
            (200, "POST", "/v1/audio/interrupt", #"{"item":"\#(tune)","duck":0.2,"priority":-3}"#),
            (200, "POST", "/v1/audio/stop", nil),
            (201, "POST", "/v1/queue", #"{"items":["\#(tune)","\#(Products.repository("media"))"]}"#),
            (201, "POST", "/v1/queue", #"{"items":["\#(tune)"],"position":0}"#),
            (200, "PATCH", "/v1/queue/3", #"{"position":0}"#), (204, "DELETE", "/v1/queue/3", nil),
            (204, "POST", "/v1/queue/remove", #"{"ids":[4,5,4]}"#),
            (200, "POST", "/v1/queue/shuffle", nil), (204, "DELETE", "/v1/queue", nil), (200, "GET", "/v1/queue", nil),
            (
                201, "POST", "/v1/tasks",
                #"{"name":"a","command":["sleep","100"],"directory":"/","strict":true,"budget":60}"#
            ),
            (201, "POST", "/v1/tasks/sample", "{}"), (200, "GET", "/v1/tasks", nil), (200, "GET", "/v1/tasks/1", nil),
            (200, "GET", "/v1/tasks/1/log", nil), (200, "GET", "/v1/status", nil),
            (200, "POST", "/v1/tasks/1/end", nil), (200, "POST", "/v1/tasks/2/end", "{}"),
            (200, "DELETE", "/v1/tasks", nil),
            (201, "POST", "/v1/task-hooks", #"{"name":"a b","command":["true"]}"#), (200, "GET", "/v1/task-hooks", nil),
            (204, "DELETE", "/v1/task-hooks/a%20b", nil),
            (200, "POST", "/v1/reload", "{}"), (200, "GET", "/v1/status", nil),
            (201, "POST", "/v1/fetch", #"{"name":"a","command":["date"],"interval":3600}"#),
            (201, "POST", "/v1/fetch", #"{"name":"ü","url":"https://h.invalid/","interval":"minimum"}"#),
            (200, "GET", "/v1/fetch", nil), (200, "GET", "/v1/fetch/%C3%BC", nil), (200, "GET", "/v1/status", nil),
            (200, "PATCH", "/v1/fetch/a", #"{"budget":5}"#), (200, "POST", "/v1/fetch/a/run", "{}"),
            (200, "POST", "/v1/fetch/a/simulate", nil), (200, "POST", "/v1/fetch/%C3%BC/run", #"{"trigger":"launch"}"#),
            (200, "GET", "/v1/fetch/a/runs?last=5", nil), (200, "GET", "/v1/fetch/%C3%BC/runs", nil),
            (200, "GET", "/v1/fetch/a/content", nil), (200, "GET", "/v1/fetch/a/items", nil),
            (200, "POST", "/v1/fetch/a/open", nil), (200, "POST", "/v1/fetch/a/clear", nil),
            (200, "GET", "/v1/fetch-plan", nil), (200, "PATCH", "/v1/refresh", #"{"enabled":false,"source":"a"}"#),
            (200, "GET", "/v1/refresh", nil), (204, "DELETE", "/v1/fetch/a", nil),
            (201, "POST", "/v1/push", #"{"name":"p","url":"mqtt://127.0.0.1:1","topic":"t"}"#),
            (200, "GET", "/v1/push", nil), (200, "POST", "/v1/push/p/simulate", #"{"payload":"x"}"#),
            (204, "DELETE", "/v1/push/p", nil),
            (
                201, "POST", "/v1/publish",
                #"{"name":"o","url":"mqtt://127.0.0.1:1","machine":"m","owntracks":"a/B","since":"2000-01-01T00:00:00Z"}"#
            ),
            (200, "GET", "/v1/publish", nil), (200, "GET", "/v1/publish/o", nil), (200, "GET", "/v1/status", nil),
            (200, "POST", "/v1/publish/o/pause", nil), (200, "POST", "/v1/publish/o/resume", "{}"),
            (200, "POST", "/v1/publish/o/rewind", #"{"to":"2030-01-01T00:00:00Z"}"#),
            (204, "DELETE", "/v1/publish/o", nil),
            (201, "POST", "/v1/publish", #"{"name":"w","url":"https://127.0.0.1:1/pub?a=b","machine":"m"}"#),
            (201, "POST", "/v1/places", Self.place), (200, "GET", "/v1/places", nil),
            (
                201, "POST", "/v1/places",
                Self.place.replacing("}}", with: #"},"replace":true,"tags":["a"],"course":90}"#)
            ),
            (200, "GET", "/v1/places?name=Pier", nil), (200, "GET", "/v1/places?near=48,11&within=50", nil),
            (200, "GET", "/v1/places?inside=1", nil), (200, "GET", "/v1/places?tag=a&after=0&count=5", nil),
            (200, "GET", "/v1/places/1", nil), (200, "PATCH", "/v1/places/1", #"{"tags":["b"]}"#),
            (200, "POST", "/v1/places/1/simulate", #"{"event":"enter"}"#), (200, "GET", "/v1/place-rules", nil),
            (200, "PUT", "/v1/place-route", #"{"gpx":"\#(try line())"}"#), (200, "GET", "/v1/place-route", nil),
            (204, "DELETE", "/v1/place-route", nil),
            (200, "POST", "/v1/places/import", #"{"path":"\#(try places())","source":"s","replace":true}"#),
            (200, "GET", "/v1/places?source=s", nil), (204, "DELETE", "/v1/places/1", nil),
            (200, "GET", "/v1/place-events", nil), (200, "GET", "/v1/place-events?place=x&last=5", nil),
            (200, "GET", "/v1/transfers", nil), (201, "POST", "/v1/transfers", try transfer(1)),
            (200, "GET", "/v1/transfers/1", nil), (200, "POST", "/v1/transfers/1/pause", nil),
            (200, "GET", "/v1/status", nil), (200, "POST", "/v1/transfers/1/resume", nil),
            (200, "DELETE", "/v1/transfers/1", nil), (200, "GET", "/v1/transfers", nil),
            (200, "GET", "/v1/sessions/s%201/events", nil), (200, "POST", "/v1/sessions/s%201/ack", #"{"seq":1}"#),
            (200, "GET", "/v1/sessions/s%201/events", nil), (200, "GET", "/v1/sessions", nil),
            (200, "DELETE", "/v1/transfers", nil),
            (200, "GET", "/v1/track/line", nil), (200, "GET", "/v1/track/line?trip=1&zoom=9.5", nil),
            (200, "GET", "/v1/track/line?bbox=-180,-90,180,90&zoom=0&since=2000-01-01T00:00:00Z", nil),
            (200, "GET", "/v1/log", nil), (200, "GET", "/v1/log?level=warning&grep=x&last=1000", nil),
            (200, "GET", "/v1/log?since=2000-01-01T00:00:00Z", nil), (200, "GET", "/v1/library", nil),
            (200, "GET", "/v1/library?path=", nil), (204, "GET", "/v1/audio/cover", nil),
            (204, "GET", "/v1/map/0/0/0", nil), (200, "GET", "/metrics", nil),
        ]
        let connection = try service.connection()
        var seen: Set<String> = []
        for (status, method, target, body) in requests {
            try await send(status, method, target, body, on: connection)
            seen.insert(try name(method, target))
        }
        seen.insert(try await events())
        seen.formUnion(try await page(connection))
        let reply = try await send(202, "POST", "/v1/stop", on: connection)
        #expect(try reply.json()["pid"]?.number != nil)
        seen.insert(try name("POST", "/v1/stop"))
        #expect(seen == Set(interface.operations.map { "\($0.method) \($0.path)" }))
    }

    private static let place =
        #"{"name":"Pier","shape":{"type":"circle","latitude":48,"longitude":11,"radius":50}}"#

    /// Returns the path of a file with places of each shape.
    /// Returns the path of a file with a route.
    private func line() throws -> String {
        try service.scratch.write(
            """
            <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1"><rte><name>Line 7</name>
            <rtept lat="48" lon="11"><name>A</name></rtept><rtept lat="48" lon="11.01"><name>B</name></rtept>
            </rte></gpx>
            """,
            to: "line.gpx"
        )
    }

    private func places() throws -> String {
        let features = [
            #"{"type":"Point","coordinates":[11,48]}"#,
            #"{"type":"Polygon","coordinates":[[[11,48],[11.1,48],[11.1,48.1],[11,48]]]}"#,
            #"{"type":"LineString","coordinates":[[11,48],[11.1,48]]}"#,
        ].enumerated().map {
            #"{"type":"Feature","properties":{"name":"\#($0)","tags":"a,b","course":9},"geometry":\#($1)}"#
        }
        return try service.scratch.write(
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#,
            to: "places.geojson"
        )
    }

    /// Returns a request for a transfer from a server that does not exist.
    private func transfer(_ number: Int) throws -> String {
        let path = service.file("downloads/\(number)")
        return #"{"url":"https://127.0.0.1:1/x","destination":"\#(path)","session":"s 1","sizeMax":1000}"#
    }

    private func name(_ method: String, _ target: String) throws -> String {
        let operation = try #require(interface.operation(method, target), "\(method) \(target) is not described")
        return "\(operation.method) \(operation.path)"
    }

    /// Begins a session of the page, uses it and ends it.
    private func page(_ local: HTTPConnection) async throws -> Set<String> {
        let reply = try await send(201, "POST", "/v1/web/codes", #"{"scope":"read","duration":60}"#, on: local)
        let code = try JSON.decode(PageCode.self, from: Data(reply.body))
        let stranger = try HTTPConnection(port: code.port)
        try await send(401, "GET", "/v1/web/page", on: stranger)
        let exchange = try await send(200, "POST", "/v1/web/session", #"{"code":"\#(code.code)"}"#, on: stranger)
        let token = try JSON.decode(PageToken.self, from: Data(exchange.body)).token
        let connection = try HTTPConnection(port: code.port, token: token)
        let page = try await send(200, "GET", "/v1/web/page", on: connection)
        #expect(try page.json()["version"]?.string == Backgrounder.version)
        try await send(403, "POST", "/v1/audio/pause", "{}", on: connection)
        let misdirected = try await connection.send("GET", "/v1/status", headers: ["host": "evil.example"])
        #expect(misdirected.status == 421)
        #expect(interface.problems(of: misdirected, to: "GET", "/v1/status") == [])
        try await send(409, "GET", "/v1/web/page", on: local)
        let sessions = try await send(200, "GET", "/v1/web/sessions", on: local)
        let id = try #require(try JSON.decode([PageSession].self, from: Data(sessions.body)).first).id
        try await send(204, "DELETE", "/v1/web/sessions/\(id)", on: local)
        try await send(404, "DELETE", "/v1/web/sessions/\(id)", on: local)
        return [
            "POST /v1/web/codes", "POST /v1/web/session", "GET /v1/web/page", "GET /v1/web/sessions",
            "DELETE /v1/web/sessions/{id}",
        ]
    }

    /// Reads events until each kind has arrived, and checks each against its schema.
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
        #expect(reply.status == 200)
        #expect(reply.headers["content-type"] == "text/event-stream")
        #expect(reply.headers["backgrounder-version"] == Backgrounder.version)
        return "GET \(Routes.eventsPath)"
    }

    @Test func `every operation refuses invalid input as described and applies none of it`() async throws {
        let connection = try service.connection()
        let before = try await connection.send("GET", "/v1/queue").json()
        for operation in interface.operations where operation.description["requestBody"] != nil {
            let path = operation.path.replacing("{id}", with: "1").replacing("{name}", with: "a")
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
            (422, "POST", "/v1/places", Self.place.replacing("50", with: "0")),
            (422, "POST", "/v1/places", Self.place.replacing("48", with: "91")),
            (422, "POST", "/v1/places", Self.place.replacing("Pier", with: "")),
            (422, "POST", "/v1/places/import", #"{"path":"x"}"#),
            (404, "POST", "/v1/places/import", #"{"path":"/nowhere.geojson"}"#),
            (422, "GET", "/v1/places?near=x", nil), (422, "GET", "/v1/places?count=1001", nil),
            (404, "GET", "/v1/places/9", nil), (404, "DELETE", "/v1/places/9", nil),
            (422, "GET", "/v1/place-events?last=x", nil),
            (422, "PATCH", "/v1/audio", #"{"volume":101}"#), (422, "PATCH", "/v1/audio", #"{"volume":50,"repeat":3}"#),
            (422, "PATCH", "/v1/audio", #"{"volume":1.5}"#), (422, "PATCH", "/v1/audio", #"{"single":"twice"}"#),
            (404, "POST", "/v1/audio/play", #"{"id":99}"#),
            (404, "POST", "/v1/audio/play", #"{"items":["/nowhere.mp3"]}"#),
            (422, "POST", "/v1/audio/play", #"{"id":1,"items":["/a"]}"#),
            (404, "POST", "/v1/audio/interrupt", #"{"item":"/nowhere.mp3"}"#),
            (404, "POST", "/v1/audio/interrupt", #"{"item":"/tmp"}"#),
            (422, "POST", "/v1/audio/interrupt", #"{"item":"relative.mp3"}"#),
            (422, "POST", "/v1/audio/interrupt", #"{"item":"\#(Samples.tunes[0])","duck":1.1}"#),
            (422, "POST", "/v1/audio/interrupt", #"{"item":"\#(Samples.tunes[0])","priority":0.5}"#),
            (422, "POST", "/v1/audio/interrupt", "{}"),
            (409, "POST", "/v1/audio/seek", #"{"to":1}"#), (409, "POST", "/v1/audio/seek", #"{"by":1}"#),
            (422, "POST", "/v1/audio/seek", "{}"), (422, "POST", "/v1/audio/seek", #"{"to":1,"by":1}"#),
            (404, "POST", "/v1/queue/remove", #"{"ids":[1,99]}"#), (422, "POST", "/v1/queue/remove", #"{"ids":[]}"#),
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
            (404, "GET", "/v1/fetch/none", nil), (404, "POST", "/v1/fetch/none/run", "{}"),
            (404, "GET", "/v1/fetch/none/content", nil), (422, "POST", "/v1/fetch", #"{"name":"a"}"#),
            (422, "POST", "/v1/fetch", #"{"name":"a","url":"ftp://h/"}"#),
            (422, "POST", "/v1/fetch", #"{"name":"a","command":["b"],"interval":59}"#),
            (422, "PATCH", "/v1/refresh", "{}"), (404, "PATCH", "/v1/refresh", #"{"enabled":true,"source":"b"}"#),
            (422, "POST", "/v1/tasks", #"{"name":"a","command":[]}"#), (422, "POST", "/v1/tasks", #"{"name":"a"}"#),
            (422, "POST", "/v1/tasks", #"{"name":"a","command":["true"],"budget":601}"#),
            (409, "POST", "/v1/tasks", #"{"name":"a","command":["/no/such"]}"#),
            (422, "POST", "/v1/tasks/sample", #"{"grace":180}"#), (404, "GET", "/v1/tasks/99", nil),
            (404, "POST", "/v1/tasks/99/end", nil), (404, "GET", "/v1/tasks/99/log", nil),
            (404, "DELETE", "/v1/task-hooks/none", nil),
            (422, "POST", "/v1/task-hooks", #"{"name":"","command":["a"]}"#),
            (422, "POST", "/v1/track/import", #"{"path":"/tmp"}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","distanceFilter":-1}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","maximumAccuracy":0}"#),
            (422, "POST", "/v1/track/import", #"{"path":"\#(Samples.walk)","raw":true,"distanceFilter":1}"#),
            (422, "POST", "/v1/transfers", #"{"url":"https://h/x"}"#),
            (422, "POST", "/v1/transfers", #"{"url":"https://h/x","destination":"relative"}"#),
            (422, "POST", "/v1/transfers", #"{"url":"ftp://h/x","destination":"/x"}"#),
            (409, "POST", "/v1/transfers", #"{"url":"https://h/x","destination":"/etc/x"}"#),
            (404, "GET", "/v1/transfers/99", nil), (404, "DELETE", "/v1/transfers/99", nil),
            (404, "POST", "/v1/transfers/99/pause", nil), (404, "GET", "/v1/sessions/nobody/events", nil),
            (404, "POST", "/v1/sessions/nobody/ack", #"{"seq":1}"#),
            (422, "GET", "/v1/track/line?zoom=21", nil), (422, "GET", "/v1/track/line?zoom=nan", nil),
            (422, "GET", "/v1/track/line?bbox=1,2,3", nil), (422, "GET", "/v1/track/line?bbox=1,2,0,3", nil),
            (422, "GET", "/v1/track/line?bbox=nan,0,1,1", nil), (422, "GET", "/v1/track/line?since=soon", nil),
            (404, "GET", "/v1/track/line?trip=99", nil), (422, "GET", "/v1/track/line?trip=x", nil),
            (422, "GET", "/v1/log?level=loud", nil), (422, "GET", "/v1/log?last=1001", nil),
            (404, "GET", "/v1/library?path=nowhere", nil), (404, "GET", "/v1/library?path=../x", nil),
            (404, "GET", "/v1/audio/cover?item=99", nil), (422, "GET", "/v1/audio/cover?item=x", nil),
            (404, "GET", "/v1/map/0/x/0", nil),
            (422, "POST", "/v1/web/codes", #"{"scope":"execute"}"#), (422, "POST", "/v1/web/codes", #"{"port":0}"#),
            (422, "POST", "/v1/web/codes", #"{"duration":0.5}"#), (401, "POST", "/v1/web/session", #"{"code":"x"}"#),
            (422, "GET", "/v1/events?attach=2", nil),
            (422, "GET", "/v1/events?observe=1ms", nil),
        ]
        for (status, method, target, body) in refused { try await send(status, method, target, body, on: connection) }
        #expect(try await connection.send("GET", "/v1/queue").json() == before)
        let settings: LocationStatus = try await service.get("/v1/location", on: connection)
        #expect(settings.distanceFilter == 0)
        #expect(settings.maximumAccuracy == nil)
        #expect(settings.updating)
        let audio: AudioStatus = try await service.get("/v1/audio", on: connection)
        #expect(audio.volume == 100)
        #expect(!audio.repeat)
        #expect(audio.timeControlStatus == .stopped)
        _ = try await connection.send("DELETE", "/v1/queue")
        try await send(409, "POST", "/v1/audio/play", "{}", on: connection)
    }

    @Test func `the description allows no body that the service refuses with 422`() async throws {
        let connection = try service.connection()
        for (method, path, bodies) in BoundaryBodies.all {
            let schema = try #require(interface.requestSchema(method, path))
            for body in bodies {
                let reply = try await connection.send(method, path, body: body)
                let problems = interface.problems(of: try JSONValue(parsing: body), against: schema)
                let request = "\(method) \(path) \(body.prefix(200))"
                #expect(reply.status != 422 || !problems.isEmpty, "\(request): allowed, but refused")
                #expect(problems.isEmpty || reply.status >= 400, "\(request): \(reply.status), \(problems)")
                #expect(interface.problems(of: reply, to: method, path) == [], "\(request)")
            }
        }
    }

    @Test func `undescribed methods get 405 with Allow, and undescribed paths get 404`() async throws {
        let connection = try service.connection()
        let methods = ["GET", "POST", "PATCH", "DELETE", "PUT"]
        for path in Set(interface.operations.map(\.path)) {
            let described = Set(interface.operations.filter { $0.path == path }.map(\.method))
            for method in methods where !described.contains(method) {
                let reply = try await connection.send(
                    method,
                    path.replacing("{id}", with: "1").replacing("{name}", with: "a"),
                    body: "{}"
                )
                #expect(reply.status == 405, "\(method) \(path): \(reply.text)")
                let allowed = reply.headers["allow"]?.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(Set(allowed ?? []).isSuperset(of: described), "\(method) \(path): \(reply.headers)")
                #expect(try JSON.decode(WireError.self, from: Data(reply.body)).code == .methodNotAllowed)
            }
        }
        for path in ["/", "/v1", "/v2/status", "/v1/audio/dance", "/v1/queue/1/2", "/v1/tasks/1/2"] {
            let reply = try await connection.send("GET", path)
            #expect(reply.status == 404, "\(path): \(reply.text)")
            #expect(try JSON.decode(WireError.self, from: Data(reply.body)).code == .notFound)
        }
    }
}
