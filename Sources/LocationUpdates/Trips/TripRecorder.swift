package import BackgrounderAPI
import FoundationEssentials

/// Finds the trips in the delivered points. See docs/behaviour.md, Trips.
///
/// A trip begins at the last standing point before the machine was first more than 50 m from where it rested. It ends where a stop
/// of 10 minutes within 50 m began, or before a gap of more than 10 minutes or a step back in time. The distance across a new
/// segment is not movement: it adds nothing to a trip and begins none.
///
/// A value type. After encoding and decoding it continues exactly where it was. Receiving a point is O(1).
///
///     for location in accepted { recorder.receive(location) }
///     try await journal.commit(accepted, trips: recorder.takeChanges(), ...)
package struct TripRecorder: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case resting(around: Place)
        case moving(Stay)
    }

    var phase: Phase?
    /// The trip in progress; at rest, the one that may be beginning.
    var tally: TripTally?
    /// The newest point.
    var last: TripPoint?
    /// How many points were received.
    var count = 0
    var ended: [TripTally] = []
    /// Whether the trip in progress changed since ``takeChanges()``.
    var isChanged = false

    /// Creates a recorder without trips.
    init() {}

    /// Processes the next point in the order of acceptance.
    mutating func receive(_ location: Location) {
        count += 1
        let point = TripPoint(location, ordinal: count)
        defer { last = point }
        guard let last, let phase, let step = TripStep(from: last, to: point), step.seconds <= Self.tripGap else {
            endTrip()
            rest(around: point.place, from: point)
            return
        }
        switch phase {
        case .resting(let place): receive(step, to: point, restingAround: place)
        case .moving(let stay): receive(step, to: point, staying: stay)
        }
    }

    private mutating func receive(_ step: TripStep, to point: TripPoint, restingAround place: Place) {
        if point.place.isFarther(than: Self.stopRadius, from: place) {
            guard step.isConnected else { return rest(around: point.place, from: point) }
            isChanged = true
            tally?.add(step, to: point)
            continueTrip(from: point)
        } else if step.isStanding {
            rest(around: place, from: point)
        } else {
            tally?.add(step, to: point)
        }
    }

    private mutating func receive(_ step: TripStep, to point: TripPoint, staying stay: Stay) {
        isChanged = true
        tally?.add(step, to: point)
        if point.place.isFarther(than: Self.stopRadius, from: stay.place) {
            continueTrip(from: point)
        } else if point.time - stay.since >= Self.stopTime {
            tally?.rollBack(to: stay.arrival)
            endTrip()
            rest(around: stay.place, from: point)
        } else if step.isStanding, !stay.isStanding, let tally {
            phase = .moving(stay.standing(tally))
        }
    }

    private mutating func continueTrip(from point: TripPoint) {
        tally?.confirm()
        phase = tally.map { .moving(Stay(place: point.place, since: point.time, arrival: $0.mark)) }
    }

    private mutating func rest(around place: Place, from point: TripPoint) {
        phase = .resting(around: place)
        tally = TripTally(point)
    }

    private mutating func endTrip() {
        if case .moving = phase, let tally { ended.append(tally) }
        phase = nil
        isChanged = false
    }

    /// Returns the trips that changed since the last call, in order, the one in progress last.
    mutating func takeChanges() -> [TripRecord] {
        var records = ended.map { $0.record(newest: count) }
        ended = []
        if isChanged, let tally { records.append(tally.record(newest: count, inProgress: true)) }
        isChanged = false
        return records
    }

    /// Returns the trip in progress at `now`; `nil` while the machine rests, and after a gap that ends the trip.
    func progress(at now: Date) -> TripProgress? {
        guard case .moving = phase, let tally, let last, now.timeIntervalSince1970 - last.time <= Self.tripGap else {
            return nil
        }
        return tally.progress
    }

    /// Ends the trip in progress. Call it when no further point follows.
    mutating func finish() {
        endTrip()
        last = nil
    }

    /// Returns the trips in `points`; the last one is over, too.
    package static func trips(in points: [Location]) -> [TripRecord] {
        var recorder = TripRecorder()
        for point in points { recorder.receive(point) }
        recorder.finish()
        return recorder.takeChanges()
    }

    /// How many of the newest points can still become part of a trip that changes.
    var openPoints: Int { phase == nil ? 0 : tally.map { count - $0.first.ordinal + 1 } ?? 0 }

    /// Metres.
    private static let stopRadius = 50.0
    /// Seconds.
    private static let stopTime = 600.0
    /// A longer time between two points ends a trip; in seconds.
    private static let tripGap = 600.0

    /// A place where the machine may have stopped, and since when.
    struct Stay: Hashable, Sendable {
        var place: Place
        var since: Double
        /// The trip at its first standing point there, or at its first point there if none is standing.
        var arrival: TripTally.Mark
        var isStanding = false

        func standing(_ tally: TripTally) -> Stay {
            var stay = self
            stay.isStanding = true
            stay.arrival = tally.mark
            return stay
        }
    }
}
