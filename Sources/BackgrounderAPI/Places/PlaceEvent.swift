package import FoundationEssentials

/// Something that happened at a place, with the fix that decided it and the figures of the decision.
package struct PlaceEvent: Codable, Hashable, Identifiable, Sendable {
    /// Never reused, even across restarts.
    package var id: Int
    package var placeId: Int
    /// The name of the place.
    package var place: String
    package var event: PlaceEventKind
    /// The time of the fix, or of the crossing if `estimated`.
    package var timestamp: Date
    package var latitude: Double
    package var longitude: Double
    /// Of the fix, in metres.
    package var accuracy: Double?
    /// From the position to the boundary in metres, positive inside.
    package var distance: Double
    /// The probability that the machine is inside.
    package var probability: Double?
    /// The seconds until the boundary, for `approach`.
    package var eta: Double?
    /// True if the crossing was interpolated between two fixes, otherwise absent.
    package var estimated: Bool?
    /// True if the machine was inside when tracking began, otherwise absent.
    package var initial: Bool?
    /// True if `place simulate` asked for it, otherwise absent.
    package var simulated: Bool?
    package var tripId: Int?
    package var actions: [PlaceAction]

    /// Creates an event.
    package init(
        id: Int,
        placeId: Int,
        place: String,
        event: PlaceEventKind,
        timestamp: Date,
        latitude: Double,
        longitude: Double,
        accuracy: Double? = nil,
        distance: Double,
        probability: Double? = nil,
        eta: Double? = nil,
        estimated: Bool? = nil,
        initial: Bool? = nil,
        simulated: Bool? = nil,
        tripId: Int? = nil,
        actions: [PlaceAction] = []
    ) {
        self.id = id
        self.placeId = placeId
        self.place = place
        self.event = event
        self.timestamp = timestamp
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
        self.distance = distance
        self.probability = probability
        self.eta = eta
        self.estimated = estimated
        self.initial = initial
        self.simulated = simulated
        self.tripId = tripId
        self.actions = actions
    }
}

/// An action of a rule because of an event.
package struct PlaceAction: Codable, Hashable, Sendable {
    /// The kinds of actions.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        case announce, say, fetch, task
    }

    /// The ways in which an action can end.
    package enum Outcome: String, Codable, CaseIterable, Sendable {
        case fired
        /// It would have come too late.
        case expired
        case cooldown
        /// The rule had fired for this visit, trip or day, or ever.
        case once
        /// Outside of the hours of the rule.
        case hours
        /// The mode that it needs refused it.
        case refused
        case failed
    }

    /// The name of the rule.
    package var rule: String
    package var kind: Kind
    package var outcome: Outcome
    /// Why, in one line; absent if there is nothing to add.
    package var detail: String?

    /// Creates an action.
    package init(rule: String, kind: Kind, outcome: Outcome, detail: String? = nil) {
        self.rule = rule
        self.kind = kind
        self.outcome = outcome
        self.detail = detail
    }
}
