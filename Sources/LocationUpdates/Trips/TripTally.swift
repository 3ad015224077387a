import BackgrounderAPI
import FoundationEssentials

/// The sums of a trip up to its newest point; constant in size.
struct TripTally: Hashable, Sendable {
    private(set) var first: TripPoint
    /// The sums; a stop rolls them back to where it began.
    private(set) var mark: Mark
    /// The distance up to the last point at which the machine was known to move on; a stop may roll back the rest.
    private var spans = SpeedSpans()

    /// The sums at one point of a trip.
    struct Mark: Hashable, Sendable {
        fileprivate var time: Double
        fileprivate var ordinal: Int
        fileprivate var distance = 0.0
        fileprivate var movingTime = 0.0
        fileprivate var reportedTop: Double?
        fileprivate var impliedTop = 0.0
        fileprivate var south: Double
        fileprivate var north: Double
        /// Degrees west and east of the first point, beyond 180 if the trip goes around the Earth.
        fileprivate var west = 0.0
        fileprivate var east = 0.0
        fileprivate var longitude = 0.0
    }

    init(_ point: TripPoint) {
        first = point
        mark = Mark(
            time: point.time,
            ordinal: point.ordinal,
            reportedTop: point.speed,
            south: point.place.latitude,
            north: point.place.latitude
        )
    }

    mutating func add(_ step: TripStep, to point: TripPoint) {
        let turn = point.place.longitude - first.place.longitude - mark.longitude
        mark.longitude += turn.remainder(dividingBy: 360)
        mark.west = min(mark.west, mark.longitude)
        mark.east = max(mark.east, mark.longitude)
        mark.south = min(mark.south, point.place.latitude)
        mark.north = max(mark.north, point.place.latitude)
        mark.distance += step.distance
        if step.isMoving { mark.movingTime += step.seconds }
        if let speed = point.speed { mark.reportedTop = max(mark.reportedTop ?? 0, speed) }
        // In less than a second, position noise implies any speed.
        if let speed = step.impliedSpeed, step.seconds >= 1 { mark.impliedTop = max(mark.impliedTop, speed) }
        mark.time = point.time
        mark.ordinal = point.ordinal
    }

    /// Marks everything so far as final: it will not be rolled back.
    mutating func confirm() {
        spans.extend(to: mark.time - first.time, distance: mark.distance)
    }

    /// Restores the sums of `earlier`, which is not before the last call of ``confirm()``.
    mutating func rollBack(to earlier: Mark) {
        mark = earlier
    }

    func record(newest: Int, inProgress: Bool = false) -> TripRecord {
        var spans = spans
        spans.extend(to: mark.time - first.time, distance: mark.distance)
        return TripRecord(
            trip: Trip(
                start: Date(timeIntervalSince1970: first.time),
                end: Date(timeIntervalSince1970: mark.time),
                distance: mark.distance,
                movingTime: (mark.movingTime * 1000).rounded() / 1000,
                topSpeed: mark.reportedTop ?? mark.impliedTop,
                bounds: bounds,
                points: mark.ordinal - first.ordinal + 1,
                speeds: spans.speeds,
                inProgress: inProgress ? true : nil
            ),
            pointsAfterFirst: newest - first.ordinal,
            pointsAfterLast: newest - mark.ordinal
        )
    }

    var progress: TripProgress {
        TripProgress(
            start: Date(timeIntervalSince1970: first.time),
            distance: mark.distance,
            // As in a trip, times are whole milliseconds.
            duration: ((mark.time - first.time) * 1000).rounded() / 1000,
            points: mark.ordinal - first.ordinal + 1
        )
    }

    private var bounds: GeographicBounds {
        let isAround = mark.east - mark.west >= 360
        func longitude(_ offset: Double) -> Double {
            let longitude = first.place.longitude + offset
            return (-180...180).contains(longitude) ? longitude : longitude.remainder(dividingBy: 360)
        }
        return GeographicBounds(
            minLatitude: mark.south,
            minLongitude: isAround ? -180 : longitude(mark.west),
            maxLatitude: mark.north,
            maxLongitude: isAround ? 180 : longitude(mark.east)
        )
    }
}

extension TripTally {
    func pack(into numbers: inout PackedNumbers) {
        first.pack(into: &numbers)
        mark.pack(into: &numbers)
        spans.pack(into: &numbers)
    }

    init(_ numbers: inout UnpackedNumbers) throws {
        first = try TripPoint(&numbers)
        mark = try Mark(&numbers)
        spans = try SpeedSpans(&numbers)
    }
}

extension TripTally.Mark {
    func pack(into numbers: inout PackedNumbers) {
        numbers.add(ordinal)
        for number in [
            time, distance, movingTime, reportedTop, impliedTop, south, north, west, east, longitude,
        ] { numbers.add(number) }
    }

    init(_ numbers: inout UnpackedNumbers) throws {
        ordinal = try numbers.count()
        time = try numbers.next()
        distance = try numbers.next()
        movingTime = try numbers.next()
        reportedTop = try numbers.optional()
        impliedTop = try numbers.next()
        south = try numbers.next()
        north = try numbers.next()
        west = try numbers.next()
        east = try numbers.next()
        longitude = try numbers.next()
    }
}
