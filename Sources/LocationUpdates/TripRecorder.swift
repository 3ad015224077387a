package import BackgrounderAPI
import FoundationEssentials

/// Finds the trips in the delivered points (BEHAVIOUR.md, Trips).
///
/// A trip begins at the last standing point before the machine was first more than 50 m from where it rested. It ends where a stop
/// of 10 minutes within 50 m began, or before a gap of more than 10 minutes or a step back in time. What a jump to a new segment
/// spans is no movement: it adds nothing to a trip, and begins none.
///
/// A value: encoded and decoded it goes on exactly where it was.
///
///     for location in accepted { recorder.receive(location) }
///     try await journal.commit(accepted, trips: recorder.takeChanges(), ...)
package struct TripRecorder: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        case resting(around: Place)
        case moving(Stay)
    }

    var phase: Phase?
    /// The trip in progress; at rest the one that may have begun.
    var tally: TripTally?
    /// The newest point.
    var last: TripPoint?
    /// How many points were received.
    var count = 0
    var ended: [TripTally] = []
    /// Whether the trip in progress is not as it was last taken.
    var isChanged = false

    package init() {}

    /// Takes the next point in the order of acceptance.
    package mutating func receive(_ location: Location) {
        count += 1
        let point = TripPoint(location, ordinal: count)
        defer { last = point }
        guard let last, let phase, let step = TripStep(from: last, to: point), step.seconds <= Judgement.tripGap else {
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
        if point.place.isFarther(than: Judgement.stopRadius, from: place) {
            guard step.isConnected else { return rest(around: point.place, from: point) }
            isChanged = true
            tally?.add(step, to: point)
            goOn(from: point)
        } else if step.isStanding {
            rest(around: place, from: point)
        } else {
            tally?.add(step, to: point)
        }
    }

    private mutating func receive(_ step: TripStep, to point: TripPoint, staying stay: Stay) {
        isChanged = true
        tally?.add(step, to: point)
        if point.place.isFarther(than: Judgement.stopRadius, from: stay.place) {
            goOn(from: point)
        } else if point.time - stay.since >= Judgement.stopTime {
            tally?.rollBack(to: stay.arrival)
            endTrip()
            rest(around: stay.place, from: point)
        } else if step.isStanding, !stay.isStanding, let tally {
            phase = .moving(stay.standing(tally))
        }
    }

    private mutating func goOn(from point: TripPoint) {
        tally?.goOn()
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

    /// The trips that changed since the last time, in their order, the one in progress last.
    package mutating func takeChanges() -> [TripRecord] {
        var records = ended.map { $0.record(newest: count) }
        ended = []
        if isChanged, let tally { records.append(tally.record(newest: count, inProgress: true)) }
        isChanged = false
        return records
    }

    /// Ends the trip in progress: no further point comes.
    package mutating func finish() {
        endTrip()
        last = nil
    }

    /// The trips in `points`, of which the last one is over, too.
    package static func trips(in points: [Location]) -> [TripRecord] {
        var recorder = TripRecorder()
        for point in points { recorder.receive(point) }
        recorder.finish()
        return recorder.takeChanges()
    }

    /// How many of the newest points can still become part of a trip that changes.
    package var openPoints: Int { phase == nil ? 0 : tally.map { count - $0.first.ordinal + 1 } ?? 0 }

    /// Where the machine may have stopped, and since when.
    struct Stay: Hashable, Sendable {
        var place: Place
        var since: Double
        /// The trip as it was at its first standing point there; before there is one, at the first point.
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

/// A place on the Earth in degrees.
struct Place: Hashable, Sendable {
    var latitude: Double
    var longitude: Double

    func isFarther(than metres: Double, from other: Place) -> Bool {
        let (a, b) = ((latitude, longitude), (other.latitude, other.longitude))
        // Most comparisons are settled without trigonometry.
        if Geodesic.upperBound(from: a, to: b) <= metres { return false }
        if abs(latitude - other.latitude) * Geodesic.shortestDegree > metres { return true }
        return Geodesic.distance(from: a, to: b) > metres
    }
}

/// What a trip needs of a point.
struct TripPoint: Hashable, Sendable {
    var place: Place
    /// Seconds since 1970, whole milliseconds.
    var time: Double
    var speed: Double?
    /// Whether the way from the point before it is known.
    var isConnected: Bool
    /// Its number among the received.
    var ordinal: Int

    init(_ location: Location, ordinal: Int) {
        place = Place(latitude: location.latitude, longitude: location.longitude)
        time = (location.timestamp.timeIntervalSince1970 * 1000).rounded() / 1000
        speed = location.speed
        isConnected = location.segmentStart != true
        self.ordinal = ordinal
    }
}

/// From one point to the next.
struct TripStep {
    var seconds: Double
    var isConnected: Bool
    /// 0 where the way is not known.
    var distance: Double
    /// Metres a second; `nil` where the way or its time is not known.
    var impliedSpeed: Double?
    /// By the speed that was reported, else by the implied one.
    var isStanding: Bool
    var isMoving: Bool

    /// `nil` for a step back in time.
    init?(from last: TripPoint, to next: TripPoint) {
        seconds = next.time - last.time
        guard seconds >= 0 else { return nil }
        isConnected = next.isConnected
        distance =
            isConnected
            ? Geodesic.distance(
                from: (last.place.latitude, last.place.longitude),
                to: (next.place.latitude, next.place.longitude)
            ) : 0
        impliedSpeed = isConnected && seconds > 0 ? distance / seconds : nil
        isStanding = (next.speed ?? impliedSpeed).map { $0 < Judgement.standingSpeed } ?? false
        isMoving =
            impliedSpeed.map { $0 >= Judgement.standingSpeed } == true
            && next.speed.map { $0 >= Judgement.standingSpeed } != false
    }
}
