package import BackgrounderAPI
package import SystemSupport

/// An event at a place for which rules may fire.
package struct PlaceOccasion: Sendable {
    /// Where the event comes from.
    package enum Origin: Hashable, Sendable {
        case observed
        /// Its rules fire without regard to their hours, cooldown and `once`, and do not remember it.
        ///
        /// Without a watch, an `approach` or `dwell` fires the rules with any watch.
        case simulated
    }

    package var event: PlaceEvent
    /// The watch of `approach` and `dwell`. Only rules with the same watch fire.
    package var watch: PlaceWatch?
    package var place: PlaceDefinition
    /// In metres; the actions at smaller places start first. A place with none is the last.
    package var radius: Double?
    /// The time of the event: that of the fix's arrival, or the end of the time of `dwell`.
    package var arrival: MonotonicTime
    package var origin: Origin

    /// Creates an occasion.
    package init(
        event: PlaceEvent,
        watch: PlaceWatch? = nil,
        place: PlaceDefinition,
        radius: Double? = nil,
        arrival: MonotonicTime,
        origin: Origin = .observed
    ) {
        self.event = event
        self.watch = watch
        self.place = place
        self.radius = radius
        self.arrival = arrival
        self.origin = origin
    }

    /// Creates the occasion of a decision about `place`, which has the id of the decision.
    ///
    /// - Parameter arrival: absent for that of the deciding fix.
    package init(
        _ decision: PlaceDecision,
        at place: PlaceDefinition,
        radius: Double?,
        tripId: Int? = nil,
        arrival: MonotonicTime? = nil
    ) {
        let event = PlaceEvent(
            id: 0,
            placeId: Int(decision.placeId),
            place: place.name,
            event: decision.event,
            timestamp: decision.timestamp,
            latitude: decision.fix.coordinate.latitude,
            longitude: decision.fix.coordinate.longitude,
            accuracy: decision.fix.accuracy,
            distance: decision.distance,
            probability: decision.probability,
            eta: decision.eta,
            estimated: decision.estimated ? true : nil,
            initial: decision.initial ? true : nil,
            tripId: tripId
        )
        self.init(
            event: event,
            watch: decision.watch,
            place: place,
            radius: radius,
            arrival: arrival ?? decision.fix.arrival
        )
    }

    /// Returns whether `rule`, which applies to the place, is for this event.
    ///
    /// A machine that was inside from the beginning has not entered.
    func concerns(_ rule: PlaceRule) -> Bool {
        guard rule.event == event.event, !(event.event == .enter && event.initial == true) else { return false }
        return rule.watch == watch || origin == .simulated && watch == nil
    }

    /// The radius for the order of actions.
    var rankedRadius: Double { radius.map { $0.isNaN ? .infinity : $0 } ?? .infinity }

    /// Returns the value of a placeholder; `nil` if the event and the place have none.
    func value(of placeholder: String, utcOffset: Int) -> String? {
        switch placeholder {
        case "distance": Self.whole(abs(event.distance))
        case "eta": event.eta.flatMap(Self.whole)
        case "time": ClockText.text(minutes: ClockText.minuteOfDay(event.timestamp, utcOffset: utcOffset))
        default: Self.value(of: placeholder, at: place, event.event)
        }
    }

    /// Returns the value of a placeholder if it does not depend on more than the place and the kind of the event.
    static func value(of placeholder: String, at place: PlaceDefinition, _ event: PlaceEventKind) -> String? {
        switch placeholder {
        case "name": place.name
        case "source": place.source
        case "sourceId": place.sourceId
        case "event": event.rawValue
        case "distance", "eta", "time": nil
        default: place.properties[placeholder]
        }
    }

    private static func whole(_ number: Double) -> String? { Int(exactly: number.rounded()).map(String.init) }
}
