package import BackgrounderAPI
import FoundationEssentials

/// Decides which fixes are delivered, and why the others are rejected. See docs/behaviour.md, Location.
///
/// A value type: its decisions depend only on the settings and the reports received so far. After encoding and decoding it
/// continues exactly where it was.
///
///     var filter = LocationFilter(settings: LocationSettings(distanceFilter: 10))
///     if case .accepted(let location) = filter.receive(.fix(fix)) { track.append(location) }
package struct LocationFilter: Codable, Hashable, Sendable {
    /// The settings. A change applies from the next fix on.
    package var settings: LocationSettings

    private var evidence = AccuracyEvidence()
    private var pin: PinnedDevice?
    /// The last delivered point, from which distances and times are measured.
    private var anchor: Waypoint?
    /// The time of the newest fix that passed the gate and the time rules, delivered or not.
    private var lastPassed: Date?
    private var held: HeldRow?
    private var isReconnected = false
    /// Whether the next fix that passes opens a segment.
    private var opensSegment = false
    /// Whether the next fix that passes is not compared with earlier ones.
    private var startsAnew = false

    /// A longer gap between fixes opens a segment; in seconds.
    static let segmentGap = 60.0
    /// A longer gap at a reconnect opens a segment; in seconds.
    private static let gapAfterReconnect = 10.0
    /// After this time without a fix, the filter follows another receiver; in seconds.
    static let deviceSilence = 10.0
    /// How many consecutive fixes that agree with each other refute the track.
    private static let agreeingFixes = 3
    private static let jitterFactor = 2.0

    /// Creates a filter that has not received anything; its first accepted fix opens a segment.
    package init(settings: LocationSettings = LocationSettings()) {
        self.settings = settings
    }

    /// Processes a report and returns the decision for a fix, `nil` for any other report.
    package mutating func receive(_ report: Report) -> Decision? {
        var passed: Location?
        return receive(report, passed: &passed)
    }

    /// Like ``receive(_:)``, and also sets `passed` to the location of a fix that passed the gate and the rules of time and is newer
    /// than those before, whether or not it is delivered; to `nil` for any other report.
    package mutating func receive(_ report: Report, passed: inout Location?) -> Decision? {
        var unasked: Explanation?
        passed = nil
        return receive(report, &unasked, &passed)
    }

    /// Like ``receive(_:)``, and also returns the figures on which the decision is based.
    package mutating func explain(_ report: Report) -> (decision: Decision, explanation: Explanation)? {
        var explanation: Explanation? = Explanation()
        var passed: Location?
        guard let decision = receive(report, &explanation, &passed), let explanation else { return nil }
        return (decision, explanation)
    }

    /// Records the figures in `why` unless it is `nil`. A distance that no rule needs is computed only for `why`.
    private mutating func receive(_ report: Report, _ why: inout Explanation?, _ passed: inout Location?) -> Decision? {
        switch report {
        case .fix(let fix):
            return judge(fix, &why, &passed)
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

    /// Forgets times of arrival of an earlier process, which had another monotonic clock.
    package mutating func restart() {
        pin?.lastArrival = nil
    }

    private mutating func startAnew() {
        held = nil
        startsAnew = true
    }

    private mutating func judge(_ fix: Fix, _ why: inout Explanation?, _ passed: inout Location?) -> Decision {
        if fix.opensSegment { startAnew() }
        why?.limit = settings.limit
        guard fix.mode >= 2 else { return reject(.noFix, fix) }
        guard let waypoint = Waypoint(fix), fix.mode <= 3 else { return reject(.invalid, fix) }
        var isNewDevice = false
        if fix.isFromReceiver, var pin {
            if pin.isOther(fix.device) {
                guard pin.isSilent(at: fix.arrival) else { return reject(.device, fix) }
                isNewDevice = true
            } else {
                pin.lastArrival = fix.arrival
                self.pin = pin
            }
        }
        let estimate = evidence.estimate(fix)
        why?.estimate = estimate?.value
        why?.source = estimate?.source
        if let rejection = gate(fix, estimate) { return .rejected(rejection) }
        var candidate = waypoint
        candidate.accuracy = estimate?.value
        return move(fix, candidate, estimate, isNewDevice: isNewDevice, &why, &passed)
    }

    /// The gate. It depends only on the fix and the settings; a fix that passes a level passes every coarser one.
    private func gate(_ fix: Fix, _ estimate: AccuracyEstimate?) -> Rejection? {
        let limit = settings.limit
        if let estimate {
            if let limit, estimate.value > limit {
                return Rejection(reason: .accuracy, value: estimate.value, limit: limit, timestamp: fix.time)
            }
        } else if settings.maximumAccuracy != nil || (fix.isFromReceiver && limit != nil) {
            return Rejection(reason: .noAccuracy, limit: limit, timestamp: fix.time)
        }
        if settings.desiredAccuracy.needsAltitude, fix.mode < 3 {
            return Rejection(reason: .accuracy, timestamp: fix.time)
        }
        return nil
    }

    /// Applies the rules of time, then those of movement.
    private mutating func move(
        _ fix: Fix,
        _ candidate: Waypoint,
        _ estimate: AccuracyEstimate?,
        isNewDevice: Bool,
        _ why: inout Explanation?,
        _ passed: inout Location?
    ) -> Decision {
        var isRelocation = false
        if !startsAnew, let anchor {
            if why != nil { why?.distance = Geodesic.distance(from: anchor.place, to: candidate.place) }
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
        let segment: SegmentReason? =
            if anchor == nil {
                .first
            } else if startsAnew {
                .newTrack
            } else if isRelocation {
                .relocation
            } else if isNewDevice {
                .device
            } else if let gap, gap > Self.segmentGap {
                .gap
            } else if let gap, isReconnected, gap > Self.gapAfterReconnect {
                .reconnect
            } else {
                opensSegment ? .started : nil
            }
        let isLate = !startsAnew && !isRelocation && gap.map { $0 <= 0 } == true
        isReconnected = false
        let location = Location(fix, candidate, estimate, isSegmentStart: segment != nil)
        if !isLate { (lastPassed, passed) = (candidate.time, location) }
        if segment == nil, let anchor, let rejection = standstill(from: anchor, to: candidate, &why) {
            return .rejected(rejection)
        }
        why?.segment = segment
        startsAnew = false
        opensSegment = false
        anchor = candidate
        if fix.isFromReceiver { pin = PinnedDevice(name: fix.device ?? pin?.name, lastArrival: fix.arrival) }
        return .accepted(location)
    }

    /// Returns whether `candidate`, which contradicts the track, completes a row of fixes that agree with each other.
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
        return row.count >= Self.agreeingFixes
    }

    /// Returns why the distance from the last delivered point does not count as movement; `nil` if it does.
    private func standstill(
        from anchor: Waypoint,
        to candidate: Waypoint,
        _ why: inout Explanation?
    ) -> Rejection? {
        guard settings.distanceFilter > 0 else { return nil }
        let distance = why?.distance ?? Geodesic.distance(from: anchor.place, to: candidate.place)
        func reject(_ reason: RejectionReason, _ limit: Double) -> Rejection {
            Rejection(reason: reason, value: distance, limit: limit, timestamp: candidate.time)
        }
        why?.bound = settings.distanceFilter
        if distance < settings.distanceFilter { return reject(.distance, settings.distanceFilter) }
        guard settings.jitterGuard, settings.desiredAccuracy != .bestForNavigation,
            candidate.speed.map({ $0 < Fix.standingSpeed }) ?? true,
            let a = anchor.accuracy, let b = candidate.accuracy
        else { return nil }
        let limit = Self.jitterFactor * (a * a + b * b).squareRoot()
        why?.bound = max(settings.distanceFilter, limit)
        return distance <= limit ? reject(.jitter, limit) : nil
    }

    private func reject(_ reason: RejectionReason, _ fix: Fix, value: Double? = nil, limit: Double? = nil) -> Decision {
        .rejected(Rejection(reason: reason, value: value, limit: limit, timestamp: fix.time))
    }
}

/// Consecutive fixes that contradict the track but agree with each other.
private struct HeldRow: Codable, Hashable, Sendable {
    var last: Waypoint
    var count: Int
}

/// The receiver that the track follows.
private struct PinnedDevice: Codable, Hashable, Sendable {
    var name: String?
    /// The ``Fix/arrival`` of its last valid fix.
    var lastArrival: Double?

    /// Returns whether `device` is another receiver. A fix without a device name is taken for one of this receiver.
    func isOther(_ device: String?) -> Bool {
        guard let name, let device else { return false }
        return name != device
    }

    func isSilent(at arrival: Double?) -> Bool {
        guard let lastArrival, let arrival else { return true }
        return arrival - lastArrival >= LocationFilter.deviceSilence
    }
}

extension Location {
    init(_ fix: Fix, _ waypoint: Waypoint, _ estimate: AccuracyEstimate?, isSegmentStart: Bool) {
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
