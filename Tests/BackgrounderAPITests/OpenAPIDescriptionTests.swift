import BackgrounderAPI
import Foundation
import TestSupport
import Testing

/// Packaging/openapi.yaml describes the routes and values as they are; the running service is held against it elsewhere.
@Suite struct OpenAPIDescriptionTests {
    private let interface: OpenAPI

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        interface = try OpenAPI(contentsOf: root.appending(path: "Packaging/openapi.yaml").path)
    }

    /// What the checks need to know of a route.
    private struct RouteFacts {
        var method: String
        var path: String
        var status: Int
        var keys: [String]

        init<Body, Reply>(_ route: Route<Body, Reply>) {
            (method, path, status, keys) = (route.method.rawValue, route.path, route.status, Body.keys)
        }

        init(stream path: String) {
            (method, self.path, status, keys) = ("GET", path, 200, [])
        }
    }

    private static let routes = [
        RouteFacts(Routes.status), .init(Routes.stop), .init(Routes.reload), .init(Routes.location),
        .init(Routes.changeLocation),
        .init(Routes.track), .init(Routes.audio), .init(Routes.changeAudio), .init(Routes.play), .init(Routes.pause),
        .init(Routes.toggle), .init(Routes.stopAudio), .init(Routes.next), .init(Routes.previous), .init(Routes.seek),
        .init(Routes.drivers), .init(Routes.queue), .init(Routes.enqueue), .init(Routes.clearQueue),
        .init(Routes.shuffleQueue),
        .init(Routes.moveItem), .init(Routes.removeItem), .init(stream: Routes.eventsPath),
        .init(stream: Routes.historyPath), .init(Routes.trips), .init(Routes.importTrack),
    ]

    @Test func `The description has every route and no other`() {
        let documented = Set(interface.operations.map { "\($0.method) \($0.path)" })
        #expect(documented == Set(Self.routes.map { "\($0.method) \($0.path)" }))
        for route in Self.routes {
            let operation = interface.operation(route.method, route.path)
            #expect(operation?.statuses == [route.status], "\(route.method) \(route.path)")
            let refused = operation?.description["responses"]?["default"].map(interface.resolved)
            #expect(
                refused?["content"]?["application/json"]?["schema"]?["$ref"]?.string == "#/components/schemas/WireError"
            )
        }
    }

    @Test func `The bodies have the keys of the routes and no other`() {
        for route in Self.routes {
            let schema = interface.requestSchema(route.method, route.path).map(interface.resolved)
            let keys = schema?["properties"]?.object?.keys.sorted() ?? []
            #expect(keys == route.keys.sorted(), "\(route.method) \(route.path)")
            #expect((schema != nil) == (route.method == "POST" || !route.keys.isEmpty))
            if let schema { #expect(schema["additionalProperties"] == .bool(false)) }
        }
    }

    /// What is wrong with `value` as a reply to the route.
    private func problems<Body, Reply>(_ value: Reply, of route: Route<Body, Reply>) throws -> [String] {
        let reply = HTTPReply(
            status: route.status,
            headers: ["content-type": Reply.self == ImportProgress.self ? "application/x-ndjson" : "application/json"],
            body: Array(try JSON.encode(value))
        )
        return interface.problems(of: reply, to: route.method.rawValue, route.path)
    }

    private static let date = Date(timeIntervalSince1970: 1_763_708_149.786)
    private static let item = PlayerItem(
        id: 3,
        position: 0,
        path: "/a.mp3",
        title: "A",
        artist: "B",
        album: "C",
        duration: 1,
        sampleRate: 44_100,
        channels: 2,
        codec: "MP3"
    )
    private static let location = Location(
        latitude: 1,
        longitude: -180,
        altitude: -3,
        horizontalAccuracy: 4,
        accuracySource: .model,
        verticalAccuracy: 5,
        speed: 0,
        course: 360,
        timestamp: date,
        mode: 2,
        segmentStart: true
    )
    private static let trip = Trip(
        id: 1,
        start: date,
        end: date.addingTimeInterval(1.5),
        distance: 3,
        movingTime: 1,
        topSpeed: 2.5,
        bounds: GeographicBounds(minLatitude: -1, minLongitude: 179, maxLatitude: 1, maxLongitude: -179),
        points: 3,
        speeds: [2, 0]
    )
    private static var tripInProgress: Trip {
        var trip = trip
        (trip.inProgress, trip.speeds) = (true, [])
        return trip
    }
    private static var damagedImport: ImportProgress {
        var progress = ImportProgress()
        (progress.finished, progress.fault) = (true, "a.gpx:3: damaged")
        return progress
    }
    private static let bareLocation = Location(latitude: 1, longitude: 2, timestamp: date)
    private static let fullLocationStatus = LocationStatus(
        updating: true,
        source: "gpx:a",
        connection: .replaying,
        quality: .starved,
        qualityDetail: "x",
        desiredAccuracy: .kilometer,
        target: 1000,
        acceptLimit: 3000,
        maximumAccuracy: 5,
        distanceFilter: 0,
        jitterGuard: false,
        received: 2,
        accepted: 1,
        rejected: RejectionCounts(),
        lastFix: location,
        lastRejection: Rejection(reason: .accuracy, value: 40, limit: 30, timestamp: date),
        trackCount: 1
    )
    private static let bareLocationStatus = LocationStatus(
        updating: false,
        source: "gpsd://localhost:2947",
        connection: .off,
        desiredAccuracy: .threeKilometers,
        target: 3000,
        distanceFilter: 10,
        jitterGuard: true,
        received: 0,
        accepted: 0,
        rejected: RejectionCounts(),
        lastRejection: Rejection(reason: .noFix),
        trackCount: 0
    )
    private static let fullAudioStatus = AudioStatus(
        timeControlStatus: .waiting,
        currentItem: item,
        elapsed: 0,
        driver: "pulse",
        device: "d",
        volume: 100,
        repeat: true,
        single: .oneshot,
        consume: true,
        random: true,
        underruns: 1,
        interruptions: 2,
        since: date,
        lastError: PlaybackError(path: "/a", reason: "r", timestamp: date)
    )
    private static let bareAudioStatus = AudioStatus(
        timeControlStatus: .stopped,
        driver: "null",
        volume: 0,
        repeat: false,
        single: .off,
        consume: false,
        random: false,
        underruns: 0,
        interruptions: 0,
        since: date,
        lastError: PlaybackError(reason: "r", timestamp: date)
    )

    private static func status(_ location: LocationStatus?, _ audio: AudioStatus?) -> ServiceStatus {
        ServiceStatus(
            version: "1",
            pid: 1,
            state: .background,
            since: date,
            attached: 0,
            modes: BackgroundMode.allCases,
            location: location,
            audio: audio
        )
    }

    @Test func `Values with everything and with the least fit their schemas`() throws {
        #expect(try problems(Self.fullLocationStatus, of: Routes.location) == [])
        #expect(try problems(Self.bareLocationStatus, of: Routes.changeLocation) == [])
        #expect(try problems([Self.location, Self.bareLocation], of: Routes.track) == [])
        #expect(try problems([Self.trip, Self.tripInProgress], of: Routes.trips) == [])
        #expect(try problems(ImportProgress(), of: Routes.importTrack) == [])
        #expect(try problems(Self.damagedImport, of: Routes.importTrack) == [])
        #expect(try problems(Self.fullAudioStatus, of: Routes.audio) == [])
        #expect(try problems(Self.bareAudioStatus, of: Routes.seek) == [])
        #expect(try problems(Self.status(Self.fullLocationStatus, Self.fullAudioStatus), of: Routes.status) == [])
        #expect(try problems(Self.status(nil, nil), of: Routes.status) == [])
        #expect(try problems([Self.item, PlayerItem(id: 1, position: 0, path: "/b")], of: Routes.queue) == [])
        #expect(try problems([Self.item], of: Routes.enqueue) == [])
        #expect(try problems(Self.item, of: Routes.moveItem) == [])
        #expect(try problems([AudioDriver(name: "alsa", live: true, available: false)], of: Routes.drivers) == [])
        #expect(try problems(ProcessReply(pid: 3), of: Routes.stop) == [])
        #expect(try problems(ReloadReply(applied: ["a"], needsRestart: []), of: Routes.reload) == [])
    }

    @Test func `Events fit their schemas, and all are documented`() throws {
        let events: [Event] = [
            .state(
                StateSnapshot(
                    status: Self.status(Self.bareLocationStatus, nil),
                    track: [Self.location],
                    queue: [Self.item]
                )
            ),
            .location(Self.bareLocation), .currentItem(CurrentItem(item: Self.item)),
            .currentItem(CurrentItem(item: nil)),
            .time(PlayerTime(itemID: 1, elapsed: 2)), .lifecycle(Lifecycle(state: .suspended, attached: 0)),
        ]
        for event in events {
            let data = try JSONValue(parsing: JSON.encode(event.payload))
            #expect(interface.problems(ofEvent: event.name, data) == [])
        }
        let documented = interface.operation("GET", Routes.eventsPath)?.description["x-events"]?.object?.keys.sorted()
        #expect(documented == Set(events.map(\.name)).sorted())
    }

    @Test func `Errors of every code fit, and history's formats are documented`() throws {
        for code in WireError.Code.allCases {
            let body = Array(try JSON.encode(WireError(code, "m", hint: code == .conflict ? nil : "h")))
            let reply = HTTPReply(status: code.httpStatus, headers: ["content-type": "application/json"], body: body)
            for operation in interface.operations {
                #expect(interface.problems(of: reply, to: operation.method, operation.path) == [])
            }
        }
        for format in TrackFormat.allCases where format != .json {
            let reply = HTTPReply(status: 200, headers: ["content-type": format.mediaType], body: [])
            #expect(interface.problems(of: reply, to: "GET", Routes.historyPath + "?format=\(format.rawValue)") == [])
        }
    }

    @Test func `Every reference points at something, and every schema is used`() throws {
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
        ("POST", "/v1/queue", #"{"items":[]}"#, false), ("POST", "/v1/audio/play", "{}", true),
        ("PATCH", "/v1/queue/7", #"{"position":0}"#, true), ("POST", "/v1/track/import", "{}", false),
        ("POST", "/v1/track/import", #"{"path":"/a","raw":false,"distanceFilter":0,"jitterGuard":true}"#, true),
        ("POST", "/v1/track/import", #"{"path":"/a","maximumAccuracy":0}"#, false),
    ])
    func `The description takes and refuses the bodies that the service takes and refuses`(
        method: String,
        path: String,
        body: String,
        fits: Bool
    ) throws {
        let schema = try #require(interface.requestSchema(method, path))
        #expect(interface.problems(of: try JSONValue(parsing: body), against: schema).isEmpty == fits)
    }
}
