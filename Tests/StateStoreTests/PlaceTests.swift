import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

@Suite struct PlaceTests {
    private let fixture: StoreFixture
    private let store: StateStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func box(_ south: Double, _ west: Double, _ north: Double, _ east: Double) -> GeographicBounds {
        GeographicBounds(minLatitude: south, minLongitude: west, maxLatitude: north, maxLongitude: east)
    }

    /// A place of 0.002 degrees around a position.
    private func place(
        _ name: String,
        at latitude: Double = 48,
        _ longitude: Double = 11,
        id: String? = nil,
        tags: [String] = [],
        radius: Double = 50
    ) -> StateStore.BoundedPlace {
        let definition = PlaceDefinition(
            name: name,
            source: "stops",
            sourceId: id,
            tags: tags,
            properties: ["zone": "A"],
            shape: .circle(center: Coordinate(latitude: latitude, longitude: longitude), radius: radius),
            course: 90,
            tolerance: nil
        )
        return (definition, box(latitude - 0.001, longitude - 0.001, latitude + 0.001, longitude + 0.001))
    }

    @Test func `an import adds, changes and removes the places of its source, and keeps their ids`() async throws {
        let first = [place("Church", id: "1", tags: ["stop"]), place("Church", id: "2"), place("Harbour")]
        var result = try #require(try await store.store(first, of: "stops", replacing: false)).counts
        #expect((result.added, result.changed, result.removed, result.unchanged) == (3, 0, 0, 0))
        let other = (
            definition: PlaceDefinition(name: "Home", shape: first[0].definition.shape), bounds: first[0].bounds
        )
        _ = try await store.store([other], of: nil, replacing: true)
        let second = [place("St. Mary", id: "1", tags: ["stop"]), place("Harbour"), place("Pier")]
        let changed = try #require(try await store.store(second, of: "stops", replacing: true))
        result = changed.counts
        #expect(changed.reshaped == [2])
        #expect((result.added, result.changed, result.removed, result.unchanged) == (1, 1, 1, 1))
        let all = try await store.places(count: 10)
        #expect(all.map(\.definition.name) == ["St. Mary", "Harbour", "Home", "Pier"])
        #expect(all.map(\.id) == [1, 3, 4, 5])
        #expect(all[0].definition == second[0].definition)
        #expect(all[2].definition.source == nil)
        #expect(try await store.places(after: 3, count: 1).map(\.id) == [4])
        #expect(try await store.places(count: 10, tag: "stop").map(\.id) == [1])
        #expect(try await store.places(count: 10, source: "stops").map(\.id) == [1, 3, 5])
        #expect(try await store.places(named: "Harbour").map(\.id) == [3])
        #expect(try await store.removePlaces([3, 99]) == 1)
        #expect(try await store.place(3) == nil)
        #expect(try await store.place(4)?.definition.name == "Home")
    }

    @Test func `places are found by their boxes, also across the antimeridian and after they moved`() async throws {
        var fiji = place("Fiji", at: -17, 180)
        fiji.bounds = box(-17.5, 179.5, -16.5, -179.5)
        _ = try await store.store([place("Church"), fiji], of: "stops", replacing: false)
        func found(_ boxes: GeographicBounds...) throws -> [String] {
            let ids = Set(try store.placeBoxes(overlapping: boxes).map(\.id)).sorted()
            return try store.places(ids + [99]).map(\.definition.name)
        }
        #expect(try found(box(47.9995, 10.9995, 48.0005, 11.0005)) == ["Church"])
        #expect(try found(box(48.0011, 10, 49, 12)).isEmpty)
        #expect(try found(box(-17, 179.6, -17, 179.7)) == ["Fiji"])
        #expect(try found(box(-17, -179.7, -17, -179.6)) == ["Fiji"])
        #expect(try found(box(-17, 179, -17, 179.4)).isEmpty)
        #expect(try found(box(-17, 0, -17, 1)).isEmpty)
        #expect(try found(box(-90, -180, 90, 180), box(40, 0, 50, 20)) == ["Church", "Fiji"])
        let moved = try await store.store([place("Fiji", at: 10, 20)], of: "stops", replacing: false)
        #expect(moved?.reshaped == [2])
        #expect(try found(box(-18, -180, -16, 180)).isEmpty)
        #expect(try found(box(9, 19, 11, 21)) == ["Fiji"])
        let world = [box(-90, -180, 90, 180)]
        #expect(try await store.places(overlapping: world, atMost: 2)?.map(\.id) == [1, 2])
        #expect(try await store.places(overlapping: world, atMost: 1) == nil)
        _ = try await store.removePlaces([2])
        #expect(try found(box(9, 19, 11, 21)).isEmpty)
        let report = try await store.database.read { try String.fetchOne($0, sql: "SELECT rtreecheck('placeBox')") }
        #expect(report == "ok")
    }

    @Test func `more places than the limit are refused, and nothing of them is kept`() async throws {
        let circle = place("x").definition.shape
        let many = (0...StateStore.mostPlaces).map {
            (definition: PlaceDefinition(name: "\($0)", shape: circle), bounds: box(0, 0, 1, 1))
        }
        #expect(try await store.store(many, of: "many", replacing: false)?.counts == nil)
        #expect(try await store.places(count: 1).isEmpty)
    }

    @Test func `events are stored with the state and their actions, and the oldest are removed`() async throws {
        func event(_ place: String, _ kind: PlaceEventKind, at seconds: Double) -> PlaceEvent {
            PlaceEvent(
                id: 0,
                placeId: 7,
                place: place,
                event: kind,
                timestamp: Date(timeIntervalSince1970: 1_795_000_000 + seconds),
                latitude: 48,
                longitude: 11,
                accuracy: 5,
                distance: 12.5,
                probability: 0.99,
                eta: kind == .approach ? 20 : nil,
                estimated: kind == .pass ? true : nil,
                tripId: 3
            )
        }
        let state = StateRecord(name: "places", value: Data("{}".utf8))
        let events = [event("Church", .enter, at: 0), event("Pier", .pass, at: 5), event("Church", .approach, at: 9)]
        let stored = try store.append(events, states: [state])
        #expect(stored.map(\.id) == [1, 2, 3])
        #expect(try store.state("places") == state.value)
        let actions = [PlaceAction(rule: "next", kind: .announce, outcome: .fired, detail: "a.wav")]
        try await store.save(actions, ofEvent: 3)
        var expected = stored
        expected[2].actions = actions
        #expect(try await store.placeEvents(count: 10) == expected)
        #expect(try await store.placeEvents(count: 1).map(\.id) == [3])
        #expect(try await store.placeEvents(count: 10, place: "Church").map(\.id) == [1, 3])
        let second = events[1].timestamp
        #expect(try await store.placeEvents(count: 10, since: second).map(\.id) == [2, 3])
        #expect(try await store.placeEvents(count: 10, until: second).map(\.id) == [1])
        try await store.database.write { try $0.execute(sql: "UPDATE placeEvent SET id = id + 199998 WHERE id = 3") }
        #expect(try store.append([event("Pier", .leave, at: 12)], states: [state]).map(\.id) == [200_002])
        #expect(try await store.placeEvents(count: 10).map(\.id) == [200_001, 200_002])
    }
}
