package import FoundationEssentials
import SystemSupport

/// The last time that a rule fired for a place, as far as a rule's conditions need it.
package struct PlaceFiring: Hashable, Sendable {
    /// A rule and a place.
    package struct Key: Hashable, Sendable {
        package var rule: String
        package var placeId: Int

        /// Creates a key.
        package init(rule: String, placeId: Int) {
            self.rule = rule
            self.placeId = placeId
        }
    }

    package var key: Key
    /// The timestamp of the event, in whole milliseconds.
    package var time: Date
    /// By how many seconds local time was ahead of UTC.
    package var utcOffset: Int
    package var tripId: Int?
    /// Whether the visit in which it fired has ended.
    package var isVisitOver: Bool

    /// Creates a firing. The time is rounded, so that a stored firing equals this one.
    package init(key: Key, time: Date, utcOffset: Int, tripId: Int? = nil, isVisitOver: Bool = false) {
        self.key = key
        self.time = time.roundedToMilliseconds
        self.utcOffset = utcOffset
        self.tripId = tripId
        self.isVisitOver = isVisitOver
    }
}

extension PlaceFiring {
    /// Returns the seconds from the firing to `date`; negative if the clock went back meanwhile.
    func elapsed(at date: Date) -> Double { date.roundedToMilliseconds.timeIntervalSince(time) }

    /// Returns whether the firing can matter to a later event.
    func matters(to rule: PlaceRule) -> Bool {
        if rule.cooldown != nil { return true }
        return switch rule.once {
        case .always: false
        case .visit: !isVisitOver
        case .trip: tripId != nil || !isVisitOver
        case .day, .ever: true
        }
    }
}

extension Date {
    fileprivate var roundedToMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970.clampedToYears * 1000).rounded() / 1000)
    }
}
