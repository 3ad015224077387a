import FoundationEssentials
import Glibc

/// The last seconds of the way, which tell movement from errors of the position.
struct Motion: Sendable {
    struct Sample: Sendable {
        var timestamp: Date
        var position: Position
        var sigma: Double
        var speed: Double?
    }

    /// The movement at the newest fix.
    struct State: Sendable {
        /// Whether the machine moves beyond doubt.
        var isMoving = false
        /// Metres per second, at least 0.
        var speed = 0.0
        /// The course of the movement, or the last one known before a stop.
        var course: Double?
        /// Whether the newest fix continues the movement: no jump leads to it.
        var agrees = false
        /// An earlier fix, to see whether a place comes nearer.
        var earlier: Sample?
    }

    private(set) var state = State()
    /// Oldest first, at least ``spacing`` apart.
    private var samples: [Sample] = []

    /// Seconds. Tuned: within 10 s, errors with a correlation time of 60 s change by half of their standard deviation.
    private static let window = 10.0
    private static let spacing = 0.9
    private static let correlationTime = 60.0
    /// Tuned: how many standard deviations of the change of the error are movement, without a reported speed.
    private static let beyondDoubt = 5.6
    /// Metres per second.
    private static let slowestReported = 1.0
    private static let slowestMeasured = 1.0
    private static let standing = 0.5

    /// Forgets the way; the next fix is the first.
    mutating func restart() {
        samples = []
        state = State()
    }

    /// Adds a fix that is later than the one before.
    mutating func receive(_ fix: PlaceFix, at position: Position) {
        let sample = Sample(timestamp: fix.timestamp, position: position, sigma: fix.sigma, speed: fix.reportedSpeed)
        let last = samples.last
        while samples.count > 1, fix.timestamp.timeIntervalSince(samples[0].timestamp) > Self.window {
            samples.removeFirst()
        }
        defer { append(sample) }
        guard let last, let first = samples.first else {
            state = State(speed: sample.speed ?? 0, course: fix.reportedCourse)
            return
        }
        let seconds = max(0.001, fix.timestamp.timeIntervalSince(first.timestamp))
        let distance = first.position.distance(to: position)
        let speed = distance / seconds
        let reported = medianSpeed(with: sample)
        let noise =
            max(sample.sigma, first.sigma) * (2 * (1 - exp(-seconds / Self.correlationTime))).squareRoot()
        let step = last.position.distance(to: position)
        let isBeyondDoubt = distance > Self.beyondDoubt * noise && seconds > 2.5
        // A jump is one great step.
        let isSteady = max(longestStep(), step) <= distance / 2
        if seconds > PlaceRules.longestGap {
            state.isMoving = isBeyondDoubt
        } else if let now = sample.speed, now >= Self.slowestReported, speed >= now / 2 {
            state.isMoving = true
        } else {
            // Some receivers report no speed, or a wrong one.
            let isPlausible = isSteady || samples.count < 3 && sample.speed.map { $0 >= Self.standing } ?? true
            state.isMoving = isBeyondDoubt && speed >= Self.slowestMeasured && isPlausible
        }
        state.speed = reported.map { state.isMoving && $0 < speed / 2 ? speed : $0 } ?? speed
        let interval = max(0.001, fix.timestamp.timeIntervalSince(last.timestamp))
        state.agrees = interval > PlaceRules.longestGap || step / interval <= 2 * max(state.speed, speed / 2) + 5
        state.earlier = first
        if state.isMoving {
            state.course = fix.reportedCourse ?? first.position.course(to: position)
        } else if interval > PlaceRules.longestGap {
            state.course = nil
        }
    }

    private mutating func append(_ sample: Sample) {
        // A frequent fix replaces the newest one, except for the first.
        if samples.count > 1, sample.timestamp.timeIntervalSince(samples[samples.count - 2].timestamp) < Self.spacing {
            samples[samples.count - 1] = sample
        } else {
            samples.append(sample)
        }
    }

    /// Returns the longest distance between consecutive samples.
    private func longestStep() -> Double {
        zip(samples, samples.dropFirst()).reduce(0) { max($0, $1.0.position.distance(to: $1.1.position)) }
    }

    /// Returns the median of the reported speeds of the last 5 s.
    private func medianSpeed(with newest: Sample) -> Double? {
        let recent = samples.lazy.filter { newest.timestamp.timeIntervalSince($0.timestamp) <= 5 }
        let speeds = (recent + [newest]).compactMap(\.speed).sorted()
        return speeds.isEmpty ? nil : speeds[speeds.count / 2]
    }
}
