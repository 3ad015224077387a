import BackgrounderAPI
import FoundationEssentials

/// Decides which fixes are delivered, and why not the others (BEHAVIOUR.md, Location).
///
/// A value: what it decides depends on nothing but its settings and what it was fed, in that order. Encoded and decoded it goes
/// on exactly where it was.
///
///     var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10))
///     if case .accepted(let location) = filter.receive(.fix(fix)) { track.append(location) }
package struct LocationFilter: Codable, Hashable, Sendable {
    /// A change applies from the next fix on.
    package var settings: LocationSettings

    private var evidence = AccuracyEvidence()
    private var pin: PinnedDevice?
    /// The last delivered point: what distances and times are measured from.
    private var anchor: Waypoint?
    /// When the last fix was that passed the gate and the time rules, delivered or not.
    private var lastPassed: Date?
    private var held: HeldRow?
    private var isReconnected = false
    /// The next fix that passes opens a segment.
    private var opensSegment = false
    /// The next fix that passes is not compared with what came before.
    private var startsAnew = false

    package init(settings: LocationSettings = LocationSettings()) {
        self.settings = settings
    }

    /// Takes what a source reports; a fix gives a decision, everything else `nil`.
    package mutating func receive(_ report: Report) -> Decision? {
        switch report {
        case .fix(let fix):
            return judge(fix)
        case .sky(let hdop, let device):
            evidence.receiveSky(hdop: hdop, device: device)
        case .gst(let time, let latitudeError, let longitudeError, let device):
            evidence.receiveGST(
                time: time,
                latitudeError: latitudeError,
                longitudeError: longitudeError,
                device: device
            )
        case .reconnected:
            isReconnected = true
        case .started:
            opensSegment = true
        case .sourceChanged:
            evidence = AccuracyEvidence()
            pin = nil
            startAnew()
        }
        return nil
    }

    /// Says that the process is a new one: arrivals of the old one mean nothing to its clock.
    package mutating func restart() {
        pin?.lastArrival = nil
    }

    private mutating func startAnew() {
        held = nil
        startsAnew = true
    }

    private mutating func judge(_ fix: Fix) -> Decision {
        if fix.opensSegment { startAnew() }
        guard fix.mode >= 2 else { return reject(.noFix, fix) }
        guard let waypoint = Waypoint(fix), fix.mode <= 3 else { return reject(.invalid, fix) }
        var isNewDevice = false
        if fix.isLive, var pin {
            if pin.isOther(fix.device) {
                guard pin.isSilent(at: fix.arrival) else { return reject(.device, fix) }
                isNewDevice = true
            } else {
                pin.lastArrival = fix.arrival
                self.pin = pin
            }
        }
        let estimate = evidence.estimate(fix)
        if let rejection = gate(fix, estimate) { return .rejected(rejection) }
        var candidate = waypoint
        candidate.accuracy = estimate?.value
        return move(fix, candidate, estimate, isNewDevice: isNewDevice)
    }

    /// The pure gate: it depends on the fix and the settings alone, and what passes a level passes every coarser one.
    private func gate(_ fix: Fix, _ estimate: AccuracyEstimate?) -> Rejection? {
        let limit = settings.limit
        if let estimate {
            if let limit, estimate.value > limit {
                return Rejection(reason: .accuracy, value: estimate.value, limit: limit, timestamp: fix.time)
            }
        } else if settings.maximumAccuracy != nil || (fix.isLive && limit != nil) {
            return Rejection(reason: .noAccuracy, limit: limit, timestamp: fix.time)
        }
        if settings.desiredAccuracy.needsAltitude, fix.mode < 3 {
            return Rejection(reason: .accuracy, timestamp: fix.time)
        }
        return nil
    }

    /// The rules of time, then those of movement.
    private mutating func move(
        _ fix: Fix,
        _ candidate: Waypoint,
        _ estimate: AccuracyEstimate?,
        isNewDevice: Bool
    ) -> Decision {
        var isRelocation = false
        if !startsAnew, let anchor {
            switch anchor.compare(candidate) {
            case .same: return reject(.duplicate, fix)
            case .slightlyBack(let seconds): return reject(.outOfOrder, fix, value: seconds, limit: 0)
            case .back(let seconds):
                guard agrees(candidate) else { return reject(.outOfOrder, fix, value: seconds, limit: 0) }
                isRelocation = true
            case .implausible(let speed, let limit):
                guard agrees(candidate) else { return reject(.implausible, fix, value: speed, limit: limit) }
                isRelocation = true
            case .plausible: break
            }
        }
        held = nil
        let gap = lastPassed.map { candidate.time.milliseconds(since: $0) / 1000 }
        let isSegmentStart =
            anchor == nil || startsAnew || opensSegment || isRelocation || isNewDevice
            || (gap ?? 0) > (isReconnected ? Judgement.gapAfterReconnect : Judgement.gapOpensSegment)
        lastPassed = candidate.time
        isReconnected = false
        if !isSegmentStart, let anchor, let rejection = standstill(fix, from: anchor, to: candidate) {
            return .rejected(rejection)
        }
        startsAnew = false
        opensSegment = false
        anchor = candidate
        if fix.isLive { pin = PinnedDevice(name: fix.device ?? pin?.name, lastArrival: fix.arrival) }
        return .accepted(Location(fix, candidate, estimate, isSegmentStart: isSegmentStart))
    }

    /// Whether `candidate`, which does not fit the track, is the last one needed of a row that agrees with itself.
    private mutating func agrees(_ candidate: Waypoint) -> Bool {
        guard var row = held else {
            held = HeldRow(last: candidate, count: 1)
            return false
        }
        switch row.last.compare(candidate) {
        case .same: return false
        case .plausible: row = HeldRow(last: candidate, count: row.count + 1)
        case .slightlyBack, .back, .implausible: row = HeldRow(last: candidate, count: 1)
        }
        held = row
        return row.count >= Judgement.agreeingFixes
    }

    /// The reason why the way from the last delivered point is no movement.
    private func standstill(_ fix: Fix, from anchor: Waypoint, to candidate: Waypoint) -> Rejection? {
        guard settings.distanceFilter > 0 else { return nil }
        let distance = Geodesic.distance(from: anchor.place, to: candidate.place)
        if distance < settings.distanceFilter {
            return Rejection(
                reason: .distance,
                value: distance,
                limit: settings.distanceFilter,
                timestamp: candidate.time
            )
        }
        guard settings.jitterGuard, settings.desiredAccuracy != .bestForNavigation,
            candidate.speed.map({ $0 < Judgement.standingSpeed }) ?? true,
            let a = anchor.accuracy, let b = candidate.accuracy
        else { return nil }
        let limit = Judgement.jitterFactor * (a * a + b * b).squareRoot()
        guard distance <= limit else { return nil }
        return Rejection(reason: .jitter, value: distance, limit: limit, timestamp: candidate.time)
    }

    private func reject(_ reason: RejectionReason, _ fix: Fix, value: Double? = nil, limit: Double? = nil) -> Decision {
        .rejected(Rejection(reason: reason, value: value, limit: limit, timestamp: fix.time))
    }
}

/// Fixes in a row that contradict the track but not each other.
private struct HeldRow: Codable, Hashable, Sendable {
    var last: Waypoint
    var count: Int
}

/// The receiver that the track follows.
private struct PinnedDevice: Codable, Hashable, Sendable {
    var name: String?
    /// Of its last valid fix, seconds of the monotonic clock.
    var lastArrival: Double?

    /// A fix that does not name its device cannot be told apart.
    func isOther(_ device: String?) -> Bool {
        guard let name, let device else { return false }
        return name != device
    }

    func isSilent(at arrival: Double?) -> Bool {
        guard let lastArrival, let arrival else { return true }
        return arrival - lastArrival >= Judgement.deviceSilence
    }
}

extension Location {
    fileprivate init(_ fix: Fix, _ waypoint: Waypoint, _ estimate: AccuracyEstimate?, isSegmentStart: Bool) {
        self.init(
            latitude: waypoint.latitude,
            longitude: waypoint.longitude,
            altitude: fix.altitude?.finite,
            horizontalAccuracy: estimate?.value,
            accuracySource: estimate?.source,
            verticalAccuracy: fix.epv?.error,
            speed: waypoint.speed,
            course: fix.course.flatMap { (0...360).contains($0) ? ($0 == 360 ? 0 : $0) : nil },
            timestamp: waypoint.time,
            mode: fix.mode,
            segmentStart: isSegmentStart ? true : nil
        )
    }
}
