import BackgrounderAPI
import CGPS
import Foundation
import LocationUpdates

/// A second implementation of the filter's rules in docs/behaviour.md, regardless of cost: it keeps every fix and searches
/// all of them for each new one. It shares only the constants with the filter, no code.
struct ReferenceFilter {
    fileprivate struct Seen {
        var report: Report
        var outcome: Outcome?
        var accuracy: Double?
    }

    enum Outcome: Equatable {
        case accepted(opensSegment: Bool)
        case rejected(RejectionReason)
    }

    private let settings: LocationSettings
    fileprivate var history: [Seen] = []

    init(_ settings: LocationSettings) {
        self.settings = settings
    }

    mutating func receive(_ report: Report) -> Outcome? {
        guard case .fix(let fix) = report else {
            history.append(Seen(report: report))
            return nil
        }
        let accuracy = estimate(fix)
        let outcome = judge(fix, accuracy)
        history.append(Seen(report: report, outcome: outcome, accuracy: accuracy))
        return outcome
    }

    private func judge(_ fix: Fix, _ accuracy: Double?) -> Outcome {
        if fix.mode < 2 { return .rejected(.noFix) }
        if !isValid(fix) { return .rejected(.invalid) }
        let followed = device()
        let isOther = fix.isFromReceiver && followed != nil && followed?.name != fix.device
        if isOther, let heard = followed?.heard, let arrival = fix.arrival, arrival - heard < 10 {
            return .rejected(.device)
        }
        let levelLimit: Double? =
            [.bestForNavigation: 15, .best: 30, .nearestTenMeters: 30, .hundredMeters: 300, .kilometer: 3000][
                settings.desiredAccuracy
            ]
        if accuracy == nil, settings.maximumAccuracy != nil || (fix.isFromReceiver && levelLimit != nil) {
            return .rejected(.noAccuracy)
        }
        if let accuracy, accuracy > levelLimit ?? .infinity || accuracy > settings.maximumAccuracy ?? .infinity {
            return .rejected(.accuracy)
        }
        if settings.desiredAccuracy == .bestForNavigation, fix.mode == 2 { return .rejected(.accuracy) }

        let isUncompared = hasBegunAnew(fix)
        let last = history.last { if case .accepted = $0.outcome { true } else { false } }
        var opens = last == nil || isUncompared || isOther
        if let last = last?.fix, !isUncompared {
            let step = seconds(from: last, to: fix)
            if step == 0 { return .rejected(.duplicate) }
            if step < 0, step > -2 { return .rejected(.outOfOrder) }
            if let reason = contradiction(last, fix) {
                if row(endingWith: fix) < 3 { return .rejected(reason) }
                opens = true
            }
        }
        let passed = history.lastIndex { seen in
            switch seen.outcome {
            case .accepted, .rejected(.distance), .rejected(.jitter): true
            default: false
            }
        }
        let since = history[(passed.map { $0 + 1 } ?? 0)...]
        let delivered = history.lastIndex { if case .accepted = $0.outcome { true } else { false } }
        // A late fix does not set the time back.
        let gaps = history[(delivered ?? history.count)...].compactMap { seen -> Double? in
            switch seen.outcome {
            case .accepted, .rejected(.distance), .rejected(.jitter): seen.fix.map { seconds(from: $0, to: fix) }
            default: nil
            }
        }
        if let gap = gaps.min() {
            if gap > 60 || (gap > 10 && since.contains { $0.report == .reconnected }) { opens = true }
        }
        if since.contains(where: { $0.report == .started }) { opens = true }
        if opens { return .accepted(opensSegment: true) }
        guard settings.distanceFilter > 0, let last, let lastFix = last.fix else {
            return .accepted(opensSegment: false)
        }
        let way = metres(lastFix, fix)
        if way < settings.distanceFilter { return .rejected(.distance) }
        if settings.jitterGuard, settings.desiredAccuracy != .bestForNavigation, speed(fix) ?? 0 < 0.5,
            let a = last.accuracy, let b = accuracy, way <= 2 * (a * a + b * b).squareRoot()
        {
            return .rejected(.jitter)
        }
        return .accepted(opensSegment: false)
    }

    /// The number of consecutive held fixes that agree, with `fix` as the newest.
    private func row(endingWith fix: Fix) -> Int {
        var newest = fix
        var count = 1
        for seen in history.reversed() {
            if case .accepted = seen.outcome { break }
            guard let earlier = seen.fix else { continue }
            if earlier.opensSegment { break }
            switch seen.outcome {
            case .rejected(.distance), .rejected(.jitter): return count
            case .rejected(.outOfOrder), .rejected(.implausible):
                guard let anchor = history.last(where: { if case .accepted = $0.outcome { true } else { false } })?.fix,
                    contradiction(anchor, earlier) != nil
                else { continue }
                let step = seconds(from: earlier, to: newest)
                if step == 0 {
                    // Of several fixes with the same time only the first counts.
                    if count == 1, newest == fix { return 0 }
                    newest = earlier
                    continue
                }
                guard step > 0, contradiction(earlier, newest) == nil else { return count }
                newest = earlier
                count += 1
            default: continue
            }
        }
        return count
    }

    /// The reason why `later` cannot follow `earlier`; `nil` if it can.
    private func contradiction(_ earlier: Fix, _ later: Fix) -> RejectionReason? {
        let step = seconds(from: earlier, to: later)
        if step < 0 { return step <= -2 ? .outOfOrder : nil }
        let implied = metres(earlier, later) / step
        return implied > 120 && implied > 1.5 * max(speed(earlier) ?? 0, speed(later) ?? 0) ? .implausible : nil
    }

    private func hasBegunAnew(_ fix: Fix) -> Bool {
        if fix.opensSegment { return true }
        for seen in history.reversed() {
            if case .accepted = seen.outcome { return false }
            if seen.report == .sourceChanged || seen.fix?.opensSegment == true { return true }
        }
        return false
    }

    private func device() -> (name: String?, heard: Double?)? {
        let begin = history.lastIndex { $0.report == .sourceChanged } ?? 0
        let current = history[begin...]
        let name = current.last { seen in
            if case .accepted = seen.outcome { seen.fix?.isFromReceiver == true } else { false }
        }
        guard let name = name?.fix?.device else { return nil }
        let heard = current.last { seen in
            guard let fix = seen.fix else { return false }
            return fix.isFromReceiver && fix.device == name && fix.mode >= 2 && isValid(fix)
        }
        return (name, heard?.fix?.arrival)
    }

    private func estimate(_ fix: Fix) -> Double? {
        if !fix.isFromReceiver { return known(fix.statedAccuracy) ?? known(fix.hdop).map { $0 * 19 / 1.731 } }
        var hdops: [Double] = []
        var gst: (time: Date, value: Double)?
        for seen in history {
            switch seen.report {
            case .sourceChanged: (hdops, gst) = ([], nil)
            case .sky(let hdop, fix.device): hdops.append(hdop)
            case .gst(let time, let a, let b, fix.device): gst = (time, (a * a + b * b).squareRoot())
            default: break
            }
        }
        if let gst, let time = fix.time, abs(time.timeIntervalSince(gst.time)) < 1.5005 { return gst.value }
        if let eph = known(fix.eph) {
            let uere = fix.status == 2 ? 4.75 : 19
            let steps = (eph / (uere / 100)).rounded()
            let isModel =
                hdops.suffix(2).contains { abs(eph / (uere * $0) - 1) <= 0.01 }
                || (steps >= 1 && abs(eph - steps * uere / 100) <= 0.0006)
            guard isModel else { return eph }
            return min(eph / 1.731, fix.status == 3 ? 1 : fix.status == 4 ? 2 : .infinity)
        }
        guard let epx = known(fix.epx), let epy = known(fix.epy) else { return nil }
        return (epx * epx + epy * epy).squareRoot() / 1.731
    }

    private func known(_ value: Double?) -> Double? { value.flatMap { $0.isFinite && $0 > 0 ? $0 : nil } }

    private func speed(_ fix: Fix) -> Double? { fix.speed.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }

    private func isValid(_ fix: Fix) -> Bool {
        guard let latitude = fix.latitude, let longitude = fix.longitude, fix.time != nil else { return false }
        return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180 && fix.mode <= 3
    }

    private func seconds(from earlier: Fix, to later: Fix) -> Double {
        guard let from = earlier.time, let to = later.time else { return 0 }
        return (to.timeIntervalSince(from) * 1000).rounded() / 1000
    }

    private func metres(_ a: Fix, _ b: Fix) -> Double {
        earth_distance(a.latitude ?? 0, a.longitude ?? 0, b.latitude ?? 0, b.longitude ?? 0)
    }
}

extension ReferenceFilter.Seen {
    fileprivate var fix: Fix? {
        if case .fix(let fix) = report { fix } else { nil }
    }
}
