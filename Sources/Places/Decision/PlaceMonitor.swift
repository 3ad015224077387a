import BackgrounderAPI
package import FoundationEssentials
package import SystemSupport

/// Decides from fixes when a machine enters, leaves, passes or approaches places, and how long it stays.
///
/// A value without side effects, for one thread at a time. The owner supplies the places around the machine, stores
/// ``state`` with each decision, and arms a timer for ``nextDeadline``:
///
///     while let need = monitor.need(for: fix) {
///         switch need {
///         case .search(let search): monitor.complete(search, found: try store.places(in: search.bounds))
///         case .places(let ids): monitor.load(try ids.compactMap(store.place), for: ids)
///         }
///     }
///     for decision in monitor.receive(fix) { … }
package struct PlaceMonitor: Sendable {
    private var motion = Motion()
    private var neighbourhood: Neighbourhood
    private var tracks: [Int64: PlaceTrack] = [:]
    private var last: PlaceFix?
    /// When the present visits began, on the monotonic clock.
    private var visitStarts: [Int64: MonotonicTime] = [:]
    /// Whether ``last`` is from before a restart.
    private var isResuming = false

    /// Creates a monitor that has not seen anything.
    ///
    /// - Parameter watches: all watches that any place has. They tell how far ahead places matter.
    package init(watches: [PlaceWatch] = []) { neighbourhood = Neighbourhood(reach: PlaceReach(watches)) }

    // MARK: State

    /// The state to keep across a restart: the places that the machine is inside of or near to, and the last fix.
    package struct State: Codable, Hashable, Sendable {
        fileprivate var tracks: [Int64: PlaceTrack]
        fileprivate var last: LastFix?

        fileprivate struct LastFix: Codable, Hashable {
            var timestamp: Date
            var coordinate: Coordinate
            var accuracy: Double?
        }
    }

    /// The state to store.
    package var state: State {
        State(
            tracks: tracks.filter { $0.value.isWorthKeeping },
            last: last.map {
                State.LastFix(timestamp: $0.timestamp, coordinate: $0.coordinate, accuracy: $0.knownAccuracy)
            }
        )
    }

    /// Creates a monitor that continues after a restart.
    ///
    /// - Parameters:
    ///   - now, arrival: the present time on both clocks; visits continue by the difference to their start.
    package init(_ state: State, watches: [PlaceWatch], now: Date, arrival: MonotonicTime) {
        tracks = state.tracks
        last = state.last.map {
            PlaceFix(timestamp: $0.timestamp, arrival: arrival, coordinate: $0.coordinate, accuracy: $0.accuracy)
        }
        isResuming = true
        neighbourhood = Neighbourhood(reach: PlaceReach(watches))
        for (id, track) in tracks {
            guard let visit = track.visit else { continue }
            let elapsed = max(0, min(now.timeIntervalSince(visit.since), arrival.seconds))
            visitStarts[id] = MonotonicTime(seconds: arrival.seconds - elapsed)
        }
    }

    /// Returns those of `fixes`, which were known before a restart, that came after the state.
    package func unjudged(_ fixes: [PlaceFix]) -> [PlaceFix] {
        fixes.filter { fix in last.map { $0.timestamp < fix.timestamp } ?? true }
    }

    /// Makes the next fix the first one after a restart again, after ``unjudged(_:)`` fixes were received.
    package mutating func resume() { isResuming = last != nil }

    /// The places that the machine is inside of.
    package var visits: [Int64: PlaceVisit] { tracks.compactMapValues(\.visit) }

    // MARK: Places

    /// Replaces the watches of all places, after the rules changed. Places are loaded again.
    package mutating func setWatches(_ watches: [PlaceWatch]) {
        neighbourhood = Neighbourhood(reach: PlaceReach(watches))
    }

    /// Forgets places that were removed or changed, and searches again, also for added ones.
    package mutating func placesChanged(_ ids: some Sequence<Int64>) {
        for id in ids {
            neighbourhood.remove(id)
            tracks[id] = nil
            visitStarts[id] = nil
        }
        neighbourhood.invalidate()
    }

    /// The knowledge that the monitor needs before it can judge a fix.
    package enum Need: Hashable, Sendable {
        /// Answer with ``complete(_:found:)``.
        case search(PlaceSearch)
        /// The definitions of places. Answer with ``load(_:for:)``.
        case places([Int64])
    }

    /// Returns what is needed to judge `fix`; `nil`, as for most fixes, if everything is known. Ask again after each answer.
    package mutating func need(for fix: PlaceFix) -> Need? {
        guard let position = Position(fix.coordinate) else { return nil }
        let way = last.flatMap { Position($0.coordinate) }?.distance(to: position) ?? 0
        let isConnected = last.map { fix.timestamp.timeIntervalSince($0.timestamp) <= PlaceRules.longestGap } ?? false
        let step = isConnected ? min(way, PlaceRules.longestGap * PlaceRules.longestPassSpeed) : 0
        neighbourhood.setSpeed(speed(of: fix, way: way))
        if let search = neighbourhood.search(at: position, step: step) { return .search(search) }
        let ids = neighbourhood.missing(at: position, step: step, way: way)
        return ids.isEmpty ? nil : .places(ids)
    }

    /// Returns the greatest speed that a watch of the next decisions may use, in metres per second.
    private func speed(of fix: PlaceFix, way: Double) -> Double {
        let seconds = last.map { fix.timestamp.timeIntervalSince($0.timestamp) } ?? 0
        let implied = seconds > 0 ? way / seconds : 0
        return min(max(motion.state.speed, fix.reportedSpeed ?? 0, implied), PlaceRules.longestPassSpeed)
    }

    /// Supplies the result of a search: all places with a box that meets one of its boxes.
    package mutating func complete(_ search: PlaceSearch, found: [IndexedPlace]) {
        neighbourhood.replace(search, found: found, kept: tracks.keys)
    }

    /// Supplies the places of `ids`. Those that are not in `loaded` do not exist any more, and are forgotten.
    ///
    /// After a restart, call it with the places of ``visits``, so that `dwell` does not wait for a fix.
    package mutating func load(_ loaded: [MonitoredPlace], for ids: [Int64]) {
        neighbourhood.add(loaded, for: ids)
        for id in Set(ids).subtracting(loaded.map(\.id)) {
            tracks[id] = nil
            visitStarts[id] = nil
        }
    }

    // MARK: Decisions

    /// Judges a fix and returns the decisions, in the order of their places' ids.
    package mutating func receive(_ fix: PlaceFix) -> [PlaceDecision] {
        guard let origin = Position(fix.coordinate), fix.timestamp.timeIntervalSinceReferenceDate.isFinite else {
            return []
        }
        let endsGap = last.map { fix.timestamp.timeIntervalSince($0.timestamp) > PlaceRules.longestGap } ?? false
        if isResuming, endsGap { last = nil }
        isResuming = false
        let gap = last.map { fix.timestamp.timeIntervalSince($0.timestamp) }
        if let gap, gap <= 0 { motion.restart() }
        let before = last.flatMap { Position($0.coordinate) }
        let way = before?.distance(to: origin) ?? 0
        neighbourhood.setSpeed(speed(of: fix, way: way))
        motion.receive(fix, at: origin)
        var previous: (timestamp: Date, position: Position)?
        if let last, let before, let gap, gap > 0, gap <= PlaceRules.longestGap { previous = (last.timestamp, before) }
        let seen = Observation(
            fix: fix,
            position: TangentPosition(origin),
            sigma: fix.sigma,
            motion: motion.state,
            previous: previous,
            endsGap: endsGap
        )
        last = fix
        var decisions: [PlaceDecision] = []
        var tracks = tracks
        // The only reference, so that changes copy nothing.
        self.tracks = [:]
        neighbourhood.visit(way: way) { place, isFirst, speedLimit in
            let distance = place.shape.signedDistance(from: seen.position)
            var track =
                tracks[place.id]
                ?? (isFirst ? Self.firstTrack(place, seen, before: before) : PlaceTrack(side: .outside(nil)))
            decisions += track.judge(place, seen, distance: distance)
            let slack = Self.slack(place, track, distance, speedLimit)
            if slack > 0 { track.rest() }
            tracks[place.id] = slack > 0 && !track.isWorthKeeping ? nil : track
            return slack
        }
        self.tracks = tracks
        for decision in decisions {
            switch decision.event {
            case .enter: visitStarts[decision.placeId] = fix.arrival
            case .leave: visitStarts[decision.placeId] = nil
            case .dwell, .pass, .approach, .next: break
            }
        }
        decisions.sort { $0.placeId < $1.placeId }
        return decisions + deadlinePassed(at: fix.arrival)
    }

    /// Returns the track of a place without one. The fix before tells whether the machine was already inside.
    private static func firstTrack(_ place: MonitoredPlace, _ seen: Observation, before: Position?) -> PlaceTrack {
        guard let before else { return PlaceTrack() }
        let distance = place.shape.signedDistance(from: TangentPosition(before))
        return PlaceTrack(side: distance <= -PlaceRules.sure * seen.sigma ? .outside(nil) : .undecided)
    }

    /// Returns how far the machine must move before the place matters, in metres; 0 if the next fix matters.
    private static func slack(_ place: MonitoredPlace, _ track: PlaceTrack, _ distance: Double, _ speedLimit: Double)
        -> Double
    {
        switch track.side {
        case .undecided: return 0
        case .outside(let doubt):
            return doubt == nil ? -distance * 0.999 - track.reach(place, speed: speedLimit) - Neighbourhood.nearby : 0
        case .inside(_, let doubt): return doubt == nil ? distance * 0.999 - Neighbourhood.nearby : 0
        }
    }

    // MARK: Time

    /// When ``deadlinePassed(at:)`` has a decision, also while no fixes arrive; `nil` if never.
    package var nextDeadline: MonotonicTime? { deadlines.map(\.time).min() }

    private var deadlines: [(id: Int64, seconds: Double, time: MonotonicTime)] {
        visitStarts.flatMap { id, start -> [(id: Int64, seconds: Double, time: MonotonicTime)] in
            guard let place = neighbourhood.place(id), let track = tracks[id] else { return [] }
            return track.dwells(of: place).map { (id, $0, MonotonicTime(seconds: start.seconds + $0)) }
        }
    }

    /// Returns the `dwell` decisions up to `time`, in the order of their times.
    package mutating func deadlinePassed(at time: MonotonicTime) -> [PlaceDecision] {
        guard !visitStarts.isEmpty, let last, let position = Position(last.coordinate) else { return [] }
        let due = deadlines.filter { $0.time <= time }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
        return due.compactMap { id, seconds, _ in
            guard let place = neighbourhood.place(id), let visit = tracks[id]?.visit else { return nil }
            tracks[id]?.dwelled(seconds)
            let distance = place.shape.signedDistance(from: TangentPosition(position))
            return PlaceDecision(
                placeId: id,
                event: .dwell,
                watch: .dwell(seconds),
                timestamp: visit.since.addingTimeInterval(seconds),
                fix: last,
                distance: distance,
                sigma: last.sigma,
                probability: PlaceDecision.probability(distance: distance, sigma: last.sigma),
                initial: visit.initial
            )
        }
    }
}
