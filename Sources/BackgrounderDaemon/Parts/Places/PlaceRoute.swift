import BackgrounderAPI
import FoundationEssentials
import Logging
import Places
import StateStore

/// The route that is followed, as it is stored.
struct PlaceRoute: Codable {
    var definition: RouteDefinition
    /// The id of the place of each stop.
    var places: [Int]

    private static let record = "places.route"
    private static let progressRecord = "places.progress"
    /// The source of the places of stops that are not imported.
    private static let source = "route"
    /// The radius of such places in metres.
    private static let radius = 30.0
    /// How far the place of a stop may be from the route's own position of it, in metres.
    private static let nearby = 200.0

    /// Returns the stored route, and how far the machine has come on it; `nil` without one, or with one that cannot be read.
    static func follower(_ store: StateStore, logger: Logger) throws -> RouteFollower? {
        guard let data = try store.state(record) else { return nil }
        do {
            let stored = try JSONDecoder().decode(PlaceRoute.self, from: data)
            let route = try FollowedRoute(stored.definition)
            guard stored.places.count == route.stops.count else { return nil }
            let state = try store.state(progressRecord).flatMap {
                try? JSONDecoder().decode(RouteMonitor.State.self, from: $0)
            }
            return RouteFollower(route, places: stored.places, state: state)
        } catch {
            logger.warning("Cannot read the stored route: \(error); set it again")
            return nil
        }
    }

    /// Returns the record of how far the machine has come.
    static func progress(_ state: RouteMonitor.State) throws -> StateRecord {
        StateRecord(name: progressRecord, value: try JSONEncoder().encode(state))
    }

    /// Stores a route. Each stop has the imported place of its name and id that is near, or else a place of its own.
    ///
    /// - Returns: the route, and the ids of places that were removed or have another shape; `nil` if there would be too many
    ///   places.
    static func set(_ definition: RouteDefinition, _ route: FollowedRoute, in store: StateStore) async throws
        -> (follower: RouteFollower, reshaped: [Int])?
    {
        var known: [Int?] = []
        var missing: [String: StateStore.BoundedPlace] = [:]
        for stop in route.stops {
            let place = try await store.places(named: stop.name).first { isPlace($0, of: stop) }
            known.append(place?.id)
            guard place == nil else { continue }
            let own = PlaceDefinition(
                name: stop.name,
                source: source,
                sourceId: id(of: stop),
                tags: ["stop"],
                shape: .circle(center: stop.coordinate, radius: radius)
            )
            missing[id(of: stop)] = (own, try Shape(own.shape).bounds)
        }
        let added = missing.sorted { $0.key < $1.key }.map(\.value)
        guard let result = try await store.store(added, of: source, replacing: true) else { return nil }
        for (index, stop) in route.stops.enumerated() where known[index] == nil {
            known[index] = try await store.places(named: stop.name).first {
                $0.definition.source == source && $0.definition.sourceId == id(of: stop)
            }?.id
        }
        let stored = PlaceRoute(definition: definition, places: known.compactMap(\.self))
        try await store.save(StateRecord(name: record, value: try JSONEncoder().encode(stored)), durable: true)
        return (RouteFollower(route, places: stored.places), result.reshaped)
    }

    /// Forgets the route.
    ///
    /// - Returns: the ids of places that were removed.
    static func clear(in store: StateStore) async throws -> [Int] {
        try await store.removeStates([record, progressRecord])
        return try await store.store([], of: source, replacing: true)?.reshaped ?? []
    }

    private static func id(of stop: FollowedRoute.Stop) -> String { stop.sourceId ?? "\(stop.sequence)" }

    private static func isPlace(_ place: Place, of stop: FollowedRoute.Stop) -> Bool {
        let definition = place.definition
        guard definition.source != source, stop.sourceId == nil || definition.sourceId == stop.sourceId,
            let shape = try? Shape(definition.shape), let position = Position(stop.coordinate)
        else { return false }
        return shape.signedDistance(from: TangentPosition(position)) >= -nearby
    }
}
