import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// When a source is fetched automatically.
enum FetchTiming: Equatable {
    case window(FlexWindow, trigger: FetchTrigger, why: String)
    case never(why: String)

    /// Computes the timing of a source. A pure function.
    ///
    /// - Parameters:
    ///   - plan: the planned runs; only used for the interval `minimum`.
    ///   - nextOpen: the next likely open; only used for a custom interval.
    ///   - isOverdue: whether a planned run was missed.
    ///   - isOn: whether background refresh is on.
    ///   - isDeclared: whether the mode may run now, because it is declared or a client is attached.
    init(
        _ source: FetchDefinition,
        _ state: FetchSourceState,
        plan: [PlannedSlot],
        nextOpen: @autoclosure () -> Date?,
        isOverdue: Bool,
        isOn: Bool,
        isDeclared: Bool
    ) {
        if let why = Self.switchedOff(state, isOn: isOn) {
            self = .never(why: why)
            return
        }
        guard isDeclared else {
            self = .never(why: "fetch is not in modes; attach or declare it")
            return
        }
        switch source.interval {
        case .never: self = .never(why: "the interval is never")
        case .custom(let seconds): self = Self.custom(seconds, state, nextOpen: nextOpen())
        case .minimum: self = Self.planned(state, plan, isOverdue: isOverdue)
        }
    }

    /// Returns why automatic fetches of a source are off; `nil` if they are on. The caller replaces `NAME`.
    static func switchedOff(_ state: FetchSourceState, isOn: Bool) -> String? {
        if !isOn { return "background refresh is off; turn it on with `backgrounder refresh on`" }
        if state.isOff {
            return "background refresh is off for this source; turn it on with `backgrounder refresh on NAME`"
        }
        if state.hasQuit {
            return "suspended by `backgrounder quit`; resumes when you open the source, or when a client attaches"
        }
        if state.isGone {
            return "the server says it is gone for good; retry with `backgrounder refresh on NAME`"
        }
        return nil
    }

    /// Returns the latest of the bounds that the interval, the server and failures set, and the reason for it.
    ///
    /// - Parameter own: the bound of the interval, which needs no reason.
    private static func bound(_ own: Date, _ state: FetchSourceState) -> (date: Date, why: String?) {
        let bounds: [(date: Date, why: String?)] = [
            (own, nil),
            (
                state.serverFloor ?? .distantPast,
                state.failures == 0
                    ? "waiting for the content to expire, as the server requested"
                    : "waiting before the next attempt, as the server requested"
            ),
            (
                state.retryAt ?? .distantPast,
                "backing off after \(state.failures == 1 ? "a failure" : "\(state.failures) failures")"
            ),
        ]
        return bounds.max { $0.date < $1.date } ?? (own, nil)
    }

    /// Returns the timing for a custom interval.
    private static func custom(_ seconds: Double, _ state: FetchSourceState, nextOpen: Date?) -> FetchTiming {
        let interval = max(seconds, FetchDefinition.shortestInterval)
        let (earliest, why) = bound(state.lastAttempt.addingTimeInterval(interval), state)
        let window = FlexWindow(
            after: state.lastAttempt,
            interval: interval,
            floor: earliest,
            nextOpen: nextOpen
        )
        let slack = window.deadline.timeIntervalSince(window.earliest)
        let reason = why ?? "after the interval of \(FetchInterval.custom(seconds).text)"
        let room =
            slack < 1 ? "" : ", or up to \(Durations.text(.seconds(slack.rounded()))) later to share a wakeup"
        return .window(window, trigger: .due, why: reason + room)
    }

    /// Returns the timing for the interval `minimum`.
    private static func planned(_ state: FetchSourceState, _ plan: [PlannedSlot], isOverdue: Bool) -> FetchTiming {
        // The floor counts from start to start. The plan spaces the ends, but all runs take about as long.
        let (floor, why) = bound(state.lastBegin.addingTimeInterval(FetchLimits.minimumFloor), state)
        if isOverdue {
            let why = "a run was missed while the service was stopped or the mode was suspended"
            return .window(FlexWindow(earliest: floor, deadline: floor), trigger: .due, why: why)
        }
        // Skip a slot if the bound would make its run too late: the next slot is close, or no open is expected.
        let first = floor.addingTimeInterval(-FetchLimits.allowedDelay)
        if let slot = plan.first(where: { $0.end > state.lastAttempt && $0.end >= first }) {
            let window = FlexWindow(endingAt: slot.end, duration: state.usualDuration, notBefore: floor)
            return .window(window, trigger: .predicted, why: "planned: \(slot.why)")
        }
        return .never(why: why.map { "\($0), until \(ISO8601.string(floor))" } ?? "no run is planned before midnight")
    }
}
