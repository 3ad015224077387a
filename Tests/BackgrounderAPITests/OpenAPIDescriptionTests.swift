import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Compares Packaging/openapi.yaml with the routes and values. Other tests compare it with the running service.
@Suite struct OpenAPIDescriptionTests {
    private let interface: OpenAPI

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        interface = try OpenAPI(contentsOf: root.appending(path: "Packaging/openapi.yaml").path)
    }

    /// The properties of a route that the tests check.
    private struct RouteFacts {
        var method: String
        var path: String
        var statuses: [Int]
        var keys: [String]
        var access: AccessLevel
        var isLocal: Bool

        init<Body, Reply>(_ route: Route<Body, Reply>) {
            (method, path, statuses, keys) = (route.method.rawValue, route.path, [route.status], Body.keys)
            (access, isLocal) = (route.access, route.isLocal)
        }

        init(stream path: String, mayBeEmpty: Bool = false) {
            (method, self.path, keys, access, isLocal) = ("GET", path, [], .read, false)
            statuses = mayBeEmpty ? [200, 204] : [200]
        }
    }

    private static let routes = [
        RouteFacts(Routes.status), .init(Routes.health), .init(Routes.acknowledgeHealth), .init(Routes.stop),
        .init(Routes.reload), .init(Routes.location),
        .init(Routes.changeLocation),
        .init(Routes.track), .init(Routes.audio), .init(Routes.changeAudio), .init(Routes.play), .init(Routes.pause),
        .init(Routes.toggle), .init(Routes.stopAudio), .init(Routes.next), .init(Routes.previous), .init(Routes.seek),
        .init(Routes.drivers), .init(Routes.interrupt), .init(Routes.queue), .init(Routes.enqueue),
        .init(Routes.clearQueue),
        .init(Routes.shuffleQueue),
        .init(Routes.removeItems), .init(Routes.moveItem), .init(Routes.removeItem), .init(stream: Routes.eventsPath),
        .init(stream: Routes.historyPath), .init(Routes.deleteHistory), .init(Routes.trips), .init(Routes.importTrack),
        .init(Routes.fetchSources), .init(Routes.addFetchSource), .init(Routes.fetchSource),
        .init(Routes.changeFetchSource), .init(Routes.removeFetchSource), .init(Routes.runFetch),
        .init(Routes.simulateFetch), .init(Routes.openFetch), .init(Routes.clearFetch), .init(Routes.fetchRuns),
        .init(Routes.fetchItems), .init(stream: Routes.fetchContentPath), .init(Routes.fetchPlan),
        .init(Routes.refresh), .init(Routes.changeRefresh),
        .init(Routes.transfers), .init(Routes.addTransfer), .init(Routes.transfer), .init(Routes.cancelTransfer),
        .init(Routes.pauseTransfer), .init(Routes.resumeTransfer), .init(Routes.sessionEvents),
        .init(Routes.acknowledgeEvents), .init(Routes.clearTransfers), .init(Routes.clearTasks), .init(Routes.sessions),
        .init(Routes.places), .init(Routes.addPlace), .init(Routes.place), .init(Routes.removePlace),
        .init(Routes.changePlace), .init(Routes.simulatePlace), .init(Routes.placeRules), .init(Routes.placeRoute),
        .init(Routes.followRoute), .init(Routes.clearRoute),
        .init(Routes.importPlaces), .init(Routes.placeEvents),
        .init(Routes.pushes), .init(Routes.addPush), .init(Routes.removePush), .init(Routes.simulatePush),
        .init(Routes.tasks), .init(Routes.beginTask), .init(Routes.beginSample), .init(Routes.task),
        .init(Routes.endTask),
        .init(Routes.taskLog), .init(Routes.taskHooks), .init(Routes.addTaskHook), .init(Routes.removeTaskHook),
        .init(Routes.trackLine), .init(Routes.log), .init(Routes.library),
        .init(stream: Routes.coverPath, mayBeEmpty: true), .init(stream: Routes.mapTilePath, mayBeEmpty: true),
        .init(stream: Routes.metricsPath),
        .init(Routes.publishers), .init(Routes.addPublisher), .init(Routes.publisher), .init(Routes.removePublisher),
        .init(Routes.pausePublisher), .init(Routes.resumePublisher), .init(Routes.rewindPublisher),
        .init(Routes.createPageCode), .init(Routes.beginPageSession), .init(Routes.pageSessions),
        .init(Routes.revokePageSession), .init(Routes.page),
    ]

    @Test func `the description lists exactly the routes of the service`() {
        let documented = Set(interface.operations.map { "\($0.method) \($0.path)" })
        #expect(documented == Set(Self.routes.map { "\($0.method) \($0.path)" }))
        for route in Self.routes {
            let operation = interface.operation(route.method, route.path)
            let place = "\(route.method) \(route.path)"
            #expect(operation?.statuses.filter { $0 < 400 } == route.statuses, "\(place)")
            #expect(operation?.description["x-access"]?.string == route.access.rawValue, "\(place)")
            #expect((operation?.description["x-local"] != nil) == route.isLocal, "\(place)")
            let isRemote = !route.isLocal && route.access < .execute
            #expect(operation?.statuses.filter([401, 421].contains) == (isRemote ? [401, 421] : []), "\(place)")
        }
    }

    @Test func `each operation documents the error statuses that apply to it`() throws {
        for operation in interface.operations {
            let place = "\(operation.method) \(operation.path)"
            let refused = Set(operation.statuses.filter { $0 >= 400 })
            let hasBody = operation.description["requestBody"] != nil
            #expect(operation.description["responses"]?["default"] == nil, "\(place)")
            #expect(refused.isSuperset(of: hasBody ? [400, 403, 413, 415, 422, 503] : [403, 422, 503]), "\(place)")
            if !hasBody { #expect(refused.isDisjoint(with: [400, 413, 415]), "\(place)") }
            if operation.path.contains("{") { #expect(refused.contains(404), "\(place)") }
            for code in WireError.Code.allCases {
                let reply = HTTPReply(
                    status: code.httpStatus,
                    headers: ["content-type": "application/json"],
                    body: Array(try JSON.encode(WireError(code, "m", hint: code == .conflict ? nil : "h")))
                )
                let problems = interface.problems(of: reply, to: operation.method, operation.path)
                #expect(problems.isEmpty == refused.contains(code.httpStatus), "\(place): \(problems)")
            }
        }
    }

    @Test func `request bodies have exactly the keys of their routes`() {
        for route in Self.routes {
            let schema = interface.requestSchema(route.method, route.path).map(interface.resolved)
            let keys = schema?["properties"]?.object?.keys.sorted() ?? []
            #expect(keys == route.keys.sorted(), "\(route.method) \(route.path)")
            #expect((schema != nil) == (route.method == "POST" || !route.keys.isEmpty))
            if let schema { #expect(schema["additionalProperties"] == .bool(false)) }
        }
    }

    /// Returns the differences between `value` as a reply to `route` and the description.
    private func problems<Body, Reply>(_ value: Reply, of route: Route<Body, Reply>) throws -> [String] {
        let reply = HTTPReply(
            status: route.status,
            headers: ["content-type": Reply.self == ImportProgress.self ? "application/x-ndjson" : "application/json"],
            body: Array(try JSON.encode(value))
        )
        return interface.problems(of: reply, to: route.method.rawValue, route.path)
    }

    @Test func `values with all fields and with only the required ones fit their schemas`() throws {
        #expect(try problems(Sample.fullLocationStatus, of: Routes.location) == [])
        #expect(try problems(Sample.bareLocationStatus, of: Routes.changeLocation) == [])
        #expect(try problems([Sample.location, Sample.bareLocation], of: Routes.track) == [])
        #expect(try problems([Sample.trip, Sample.tripInProgress], of: Routes.trips) == [])
        #expect(try problems(ImportProgress(), of: Routes.importTrack) == [])
        #expect(try problems(Sample.damagedImport, of: Routes.importTrack) == [])
        #expect(try problems(Sample.fullAudioStatus, of: Routes.audio) == [])
        #expect(try problems(Sample.bareAudioStatus, of: Routes.seek) == [])
        #expect(try problems(Sample.fullAudioStatus, of: Routes.interrupt) == [])
        #expect(try problems(Sample.status(Sample.fullLocationStatus, Sample.fullAudioStatus), of: Routes.status) == [])
        #expect(try problems(Sample.status(nil, nil), of: Routes.status) == [])
        #expect(try problems(Sample.failingStorage, of: Routes.health) == [])
        #expect(try problems(StorageHealth(), of: Routes.acknowledgeHealth) == [])
        var withTasks = Sample.status(nil, nil)
        withTasks.health = Sample.failingStorage
        withTasks.tasks = [Sample.task]
        #expect(try problems(withTasks, of: Routes.status) == [])
        #expect(try problems([Sample.item, PlayerItem(id: 1, position: 0, path: "/b")], of: Routes.queue) == [])
        #expect(try problems([Sample.item], of: Routes.enqueue) == [])
        #expect(try problems(Sample.item, of: Routes.moveItem) == [])
        #expect(try problems([AudioDriver(name: "alsa", live: true, available: false)], of: Routes.drivers) == [])
        let devices = [AudioDevice(name: "a", description: "A", isDefault: true), AudioDevice(name: "b")]
        let driver = AudioDriver(name: "pulse", live: true, available: true, devices: devices)
        #expect(try problems([driver], of: Routes.drivers) == [])
        #expect(try problems([Sample.transfer, Sample.waitingTransfer], of: Routes.transfers) == [])
        #expect(try problems(Sample.transfer, of: Routes.addTransfer) == [])
        #expect(try problems(Sample.transferEvents, of: Routes.sessionEvents) == [])
        #expect(try problems(Sample.transferEvents, of: Routes.acknowledgeEvents) == [])
        var session = SessionStatus(name: "s", open: 1, events: 2)
        (session.declared, session.discretionary, session.exists, session.sizeMax) = (true, true, .rename, 1)
        #expect(try problems([session, SessionStatus(name: "t")], of: Routes.sessions) == [])
        #expect(try problems(ClearReply(removed: 0), of: Routes.clearTransfers) == [])
        #expect(try problems(ClearReply(removed: 1), of: Routes.clearTasks) == [])
        #expect(try problems([Sample.source, Sample.bareSource], of: Routes.fetchSources) == [])
        #expect(try problems(Sample.source, of: Routes.addFetchSource) == [])
        let begun = FetchRun(id: 2, source: "a", trigger: .ride, began: Sample.date)
        #expect(try problems([Sample.run, begun], of: Routes.fetchRuns) == [])
        #expect(try problems(Sample.run, of: Routes.runFetch) == [])
        #expect(try problems([Sample.feedItem, FetchItem(id: "j")], of: Routes.fetchItems) == [])
        let publisher = PublisherStatus(
            name: "a",
            url: "mqtt://b:1",
            machine: "m",
            topic: "t",
            groups: ["red"],
            why: "x",
            rate: 0.5,
            lastAcknowledged: Sample.date,
            live: Sample.date
        )
        #expect(try problems([publisher], of: Routes.publishers) == [])
        let push = PushStatus(name: "a", url: "mqtt://b:1", topic: "#", state: .refused, lastError: "x")
        #expect(try problems([push, PushStatus(name: "a", url: "mqtts://b:1", topic: "t")], of: Routes.pushes) == [])
        #expect(try problems(push, of: Routes.addPush) == [])
        #expect(try problems(Sample.places, of: Routes.places) == [])
        #expect(try problems(Sample.places[0], of: Routes.place) == [])
        #expect(try problems(Sample.places[1], of: Routes.addPlace) == [])
        #expect(try problems(Sample.places[1], of: Routes.changePlace) == [])
        #expect(try problems(Sample.placeEvents[0], of: Routes.simulatePlace) == [])
        #expect(try problems(Sample.placeRoute, of: Routes.placeRoute) == [])
        #expect(try problems(Sample.placeRoute, of: Routes.followRoute) == [])
        #expect(try problems(Sample.placeRules, of: Routes.placeRules) == [])
        #expect(try problems(PlaceImport(), of: Routes.importPlaces) == [])
        #expect(try problems(Sample.placeEvents, of: Routes.placeEvents) == [])
        #expect(try problems(PushOutcome(.waiting, source: "a", at: Sample.date), of: Routes.simulatePush) == [])
        #expect(try problems(PushOutcome(.ignored, reason: "expired", detail: "d"), of: Routes.simulatePush) == [])
        #expect(try problems([PlanEntry(source: "a", at: Sample.date, why: "w")], of: Routes.fetchPlan) == [])
        #expect(try problems(Sample.refresh, of: Routes.changeRefresh) == [])
        #expect(try problems([Sample.task, Sample.bareTask], of: Routes.tasks) == [])
        #expect(try problems(Sample.task, of: Routes.beginTask) == [])
        #expect(try problems(Sample.bareTask, of: Routes.beginSample) == [])
        #expect(try problems(Sample.task, of: Routes.endTask) == [])
        #expect(try problems(TaskOutput(id: 1, text: "", truncated: true), of: Routes.taskLog) == [])
        let hook = TaskHook(
            name: "a",
            on: .place,
            command: ["b"],
            directory: "/",
            environment: ["C": "d"],
            budget: 10,
            grace: 5,
            strict: true,
            repeat: true
        )
        #expect(try problems(hook, of: Routes.addTaskHook) == [])
        #expect(try problems([hook], of: Routes.taskHooks) == [])
        #expect(try problems(ProcessReply(pid: 3), of: Routes.stop) == [])
        let line = TrackLine(segments: [[[48, 11], [48.5, 11.25]], [[0, 180]]])
        #expect(try problems(line, of: Routes.trackLine) == [])
        #expect(try problems(TrackLine(segments: []), of: Routes.trackLine) == [])
        let records = ["2026-11-20T10:00:00.000Z info Started", "Fatal error"].map(LogRecord.init(line:))
        #expect(try problems(records, of: Routes.log) == [])
        #expect(try problems(Sample.musicFolder, of: Routes.library) == [])
        #expect(try problems(Sample.pageCode, of: Routes.createPageCode) == [])
        let token = PageToken(token: String(repeating: "f", count: 64), scope: .read, expires: Sample.date)
        #expect(try problems(token, of: Routes.beginPageSession) == [])
        let pageSession = PageSession(id: 1, scope: .control, expires: Sample.date)
        #expect(try problems([pageSession], of: Routes.pageSessions) == [])
        #expect(try problems(Sample.page, of: Routes.page) == [])
        #expect(try problems(PageDescription(scope: .read, expires: Sample.date, version: "1"), of: Routes.page) == [])
        #expect(try problems(ReloadReply(applied: ["a"], needsRestart: []), of: Routes.reload) == [])
    }

    @Test func `events fit their schemas, and exactly these events are documented`() throws {
        let events: [Event] = [
            .state(
                StateSnapshot(
                    status: Sample.status(Sample.bareLocationStatus, nil),
                    track: [Sample.location],
                    queue: [Sample.item]
                )
            ),
            .location(Sample.bareLocation), .currentItem(CurrentItem(item: Sample.item)),
            .currentItem(CurrentItem(item: nil)),
            .time(PlayerTime(itemID: 1, elapsed: 2)), .lifecycle(LifecycleState(state: .suspended, attached: 0)),
            .transfer(Sample.waitingTransfer), .fetch(Sample.run),
            .alert(PushAlert(source: "a", id: "1", text: "x")),
            .task(Sample.task), .health(Sample.failingStorage), .place(Sample.placeEvents[0]),
        ]
        for event in events {
            let data = try JSONValue(parsing: JSON.encode(event.payload))
            #expect(interface.problems(ofEvent: event.name, data) == [])
        }
        let documented = interface.operation("GET", Routes.eventsPath)?.description["x-events"]?.object?.keys.sorted()
        #expect(documented == Set(events.map(\.name)).sorted())
    }

    @Test func `the track formats of the history are documented`() throws {
        for format in TrackFormat.allCases where format != .json {
            let reply = HTTPReply(status: 200, headers: ["content-type": format.mediaType], body: [])
            #expect(interface.problems(of: reply, to: "GET", Routes.historyPath + "?format=\(format.rawValue)") == [])
        }
    }

    @Test func `every reference resolves, and every schema is used`() throws {
        var references: Set<String> = []
        func collect(_ value: JSONValue) {
            if let reference = value["$ref"]?.string {
                references.insert(reference)
                #expect(interface.resolved(value) != .null, "\(reference)")
            }
            value.object?.values.forEach(collect)
            value.array?.forEach(collect)
        }
        collect(interface.document)
        let schemas =
            interface.document["components"]?["schemas"]?.object?.keys.map { "#/components/schemas/\($0)" } ?? []
        #expect(!schemas.isEmpty)
        #expect(Set(schemas).subtracting(references).isEmpty)
    }

    @Test(arguments: [
        ("PATCH", "/v1/location", #"{"maximumAccuracy":null,"distanceFilter":0}"#, true),
        ("PATCH", "/v1/location", #"{"maximumAccuracy":0}"#, false),
        ("PATCH", "/v1/location", #"{"updating":null}"#, false),
        ("PATCH", "/v1/audio", #"{"single":"oneshot","volume":100}"#, true),
        ("PATCH", "/v1/audio", #"{"volume":101}"#, false), ("POST", "/v1/audio/seek", "{}", false),
        ("POST", "/v1/audio/seek", #"{"to":1,"by":1}"#, false), ("POST", "/v1/audio/seek", #"{"by":-1}"#, true),
        ("POST", "/v1/audio/interrupt", #"{"item":"/a","duck":0.2,"priority":-1}"#, true),
        ("POST", "/v1/audio/interrupt", #"{"item":"/a","duck":1.1}"#, false),
        ("POST", "/v1/queue", #"{"items":[]}"#, false), ("POST", "/v1/audio/play", "{}", true),
        ("PATCH", "/v1/queue/7", #"{"position":0}"#, true), ("POST", "/v1/track/import", "{}", false),
        ("POST", "/v1/track/import", #"{"path":"/a","raw":false,"distanceFilter":0,"jitterGuard":true}"#, true),
        ("POST", "/v1/track/import", #"{"path":"/a","maximumAccuracy":0}"#, false),
        ("POST", "/v1/push", #"{"name":"a","url":"mqtts://b:1","topic":"t/#","credentials":"/c"}"#, true),
        ("POST", "/v1/push", #"{"name":"a","url":"mqtt://u:p@b","topic":"t"}"#, false),
        ("POST", "/v1/push", #"{"name":"a","topic":"t"}"#, false),
        ("POST", "/v1/push/a/simulate", #"{"payload":"x"}"#, true), ("POST", "/v1/push/a/simulate", "{}", false),
        ("POST", "/v1/fetch", #"{"name":"a","url":"https://h/","interval":"minimum"}"#, true),
        ("POST", "/v1/fetch", #"{"name":"a","command":["c"],"interval":60,"budget":30}"#, true),
        ("POST", "/v1/fetch", #"{"url":"https://h/"}"#, false),
        ("PATCH", "/v1/fetch/a", #"{"interval":59}"#, false), ("PATCH", "/v1/fetch/a", #"{"budget":0}"#, false),
        ("PATCH", "/v1/refresh", #"{"enabled":false,"source":"a","untilOpen":true}"#, true),
        ("PATCH", "/v1/refresh", "{}", false),
        ("POST", "/v1/transfers", #"{"url":"https://h/","destination":"/a","exists":"rename"}"#, true),
        ("POST", "/v1/transfers", #"{"url":"https://h/","destination":"/a","exists":"never"}"#, false),
        ("POST", "/v1/transfers", #"{"url":"https://h/"}"#, false), ("POST", "/v1/sessions/a/ack", #"{"seq":1}"#, true),
        ("POST", "/v1/tasks", #"{"name":"a","command":["b"],"budget":600,"grace":1,"strict":true}"#, true),
        ("POST", "/v1/tasks", #"{"name":"a","command":[]}"#, false), ("POST", "/v1/tasks", #"{"name":"a"}"#, false),
        ("POST", "/v1/tasks", #"{"name":"a","command":["b"],"budget":601}"#, false),
        ("POST", "/v1/tasks", #"{"name":"a","command":["b"],"directory":"c"}"#, false),
        ("POST", "/v1/web/codes", "{}", true), ("POST", "/v1/web/session", "{}", false),
        ("POST", "/v1/web/codes", #"{"scope":"read","duration":1,"port":65535}"#, true),
        ("POST", "/v1/web/codes", #"{"scope":"execute"}"#, false), ("POST", "/v1/web/codes", #"{"port":0}"#, false),
        ("POST", "/v1/tasks/sample", "{}", true), ("POST", "/v1/tasks/sample", #"{"grace":0}"#, false),
    ])
    func `the description accepts valid request bodies and rejects invalid ones`(
        method: String,
        path: String,
        body: String,
        fits: Bool
    ) throws {
        let schema = try #require(interface.requestSchema(method, path))
        #expect(interface.problems(of: try JSONValue(parsing: body), against: schema).isEmpty == fits)
    }
}
