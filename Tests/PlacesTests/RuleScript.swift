import BackgrounderAPI
import Foundation
import Places
import SystemSupport

/// A book of rules, its stored firings, and events at given seconds after 2027-01-15T08:00:00Z.
struct RuleScript {
    var book: PlaceRuleBook
    private(set) var stored: [PlaceFiring.Key: PlaceFiring] = [:]
    private let rules: [PlaceRule]
    private let utcOffset: Int

    static let harbour = PlaceDefinition(
        name: "Harbour",
        source: "stops.geojson",
        sourceId: "s1",
        tags: ["stop", "water"],
        properties: ["platform": "4"],
        shape: .circle(center: Coordinate(latitude: 1, longitude: 2), radius: 50)
    )

    init(_ rules: [PlaceRule], utcOffset: Int = 0) {
        self.rules = rules
        self.utcOffset = utcOffset
        book = PlaceRuleBook(rules, utcOffset: { _ in utcOffset })
    }

    static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(seconds: 1000 + seconds) }
    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds) }

    static func occasion(
        _ event: PlaceEventKind,
        at seconds: Double = 0,
        watch: PlaceWatch? = nil,
        place: PlaceDefinition = harbour,
        id: Int = 1,
        radius: Double? = 50,
        trip: Int? = nil,
        eta: Double? = nil,
        distance: Double = -120.4,
        initial: Bool? = nil,
        origin: PlaceOccasion.Origin = .observed
    ) -> PlaceOccasion {
        PlaceOccasion(
            event: PlaceEvent(
                id: 0,
                placeId: id,
                place: place.name,
                event: event,
                timestamp: date(seconds),
                latitude: 1,
                longitude: 2,
                distance: distance,
                eta: eta,
                initial: initial,
                tripId: trip
            ),
            watch: watch,
            place: place,
            radius: radius,
            arrival: time(seconds),
            origin: origin
        )
    }

    /// Judges the occasions and stores the firings.
    mutating func judge(_ occasions: PlaceOccasion..., now: Double = 0) -> PlaceRuling {
        let ruling = book.judge(occasions, at: Self.time(now))
        for firing in ruling.saved { stored[firing.key] = firing }
        for key in ruling.removed { stored[key] = nil }
        return ruling
    }

    /// Judges one occasion at its time, and returns a line for each action, such as `fetch fired` or `say hours: …`.
    mutating func lines(_ occasion: PlaceOccasion) -> [String] {
        judge(occasion, now: occasion.arrival.seconds - Self.time(0).seconds).actions[0].map(Self.line)
    }

    /// Judges one event at its time, and returns a line for each action.
    mutating func lines(
        _ event: PlaceEventKind,
        at seconds: Double,
        watch: PlaceWatch? = nil,
        id: Int = 1,
        trip: Int? = nil
    ) -> [String] {
        lines(Self.occasion(event, at: seconds, watch: watch, id: id, trip: trip))
    }

    static func line(_ action: PlaceAction) -> String {
        if action.outcome == .failed, action.detail == PlaceRuling.unfinished { return "\(action.kind) fired" }
        return "\(action.kind) \(action.outcome)" + (action.detail.map { ": \($0)" } ?? "")
    }

    /// Continues with a new book that has the stored firings.
    mutating func restart() {
        book = PlaceRuleBook(rules, firings: stored.values, utcOffset: { [utcOffset] _ in utcOffset })
    }
}
