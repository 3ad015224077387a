import BackgrounderAPI
import FoundationEssentials

/// When a source may and must be fetched by itself: a pure function of what is known.
enum FetchTiming: Equatable {
    case window(FlexWindow, trigger: FetchTrigger, why: String)
    case never(why: String)

    init(
        _ source: FetchDefinition,
        _ standing: FetchStanding,
        plan: [PlannedSlot],
        nextOpen: @autoclosure () -> Date?,
        isOverdue: Bool,
        isOn: Bool,
        isDeclared: Bool
    ) {
        if let why = Self.switchedOff(standing, isOn: isOn) {
            self = .never(why: why)
            return
        }
        guard isDeclared else {
            self = .never(why: "fetch is not in modes; attach or declare it")
            return
        }
        switch source.interval {
        case .never: self = .never(why: "its interval is never")
        case .custom(let seconds): self = Self.custom(seconds, standing, nextOpen: nextOpen())
        case .minimum: self = Self.planned(standing, plan, isOverdue: isOverdue)
        }
    }

    /// Why `standing` stops all automatic fetches; `nil` where it does not.
    static func switchedOff(_ standing: FetchStanding, isOn: Bool) -> String? {
        if !isOn { return "background refresh is off; `backgrounder refresh on` allows it" }
        if standing.isOff { return "its refresh is off; `backgrounder refresh on NAME` allows it" }
        if standing.hasQuit { return "it was quit, until somebody opens it or attaches" }
        if standing.isGone {
            return "the server says that it is gone for good; `backgrounder refresh on NAME` tries again"
        }
        return nil
    }

    /// The bound that the interval, the server and failures set, and which of them.
    ///
    /// - Parameter own: the interval's.
    private static func bound(_ own: Date, _ standing: FetchStanding) -> (date: Date, why: String?) {
        let bounds: [(date: Date, why: String?)] = [
            (own, nil),
            (
                standing.serverFloor ?? .distantPast,
                standing.failures == 0
                    ? "the server says that its content is fresh until then"
                    : "the server wants to be left alone until then"
            ),
            (standing.retryAt ?? .distantPast, "after \(standing.failures) failures it waits"),
        ]
        return bounds.max { $0.date < $1.date } ?? (own, nil)
    }

    private static func custom(_ seconds: Double, _ standing: FetchStanding, nextOpen: Date?) -> FetchTiming {
        let interval = max(seconds, FetchDefinition.shortestInterval)
        let (earliest, why) = bound(standing.lastAttempt.addingTimeInterval(interval), standing)
        let window = FlexWindow(
            after: standing.lastAttempt,
            interval: interval,
            floor: earliest,
            nextOpen: nextOpen
        )
        let slack = window.deadline.timeIntervalSince(window.earliest)
        let reason = why ?? "its interval of \(FetchInterval.custom(seconds).text) is over then"
        let room = slack < 1 ? "" : "; it may wait \(Durations.text(.seconds(slack.rounded()))) more to share a wakeup"
        return .window(window, trigger: .due, why: reason + room)
    }

    private static func planned(_ standing: FetchStanding, _ plan: [PlannedSlot], isOverdue: Bool) -> FetchTiming {
        // From begin to begin, as the plan's slots are from end to end and all runs take about as long.
        let (floor, why) = bound(standing.lastBegin.addingTimeInterval(FetchJudgement.minimumFloor), standing)
        if isOverdue {
            let why = "a run was missed while nothing could run"
            return .window(FlexWindow(earliest: floor, deadline: floor), trigger: .due, why: why)
        }
        // Where the bound lets no run end in time, the slot is given up: the next one is not far, or nobody is expected.
        let first = floor.addingTimeInterval(-FetchJudgement.allowedDelay)
        if let slot = plan.first(where: { $0.end > standing.lastAttempt && $0.end >= first }) {
            let window = FlexWindow(endingAt: slot.end, duration: standing.usualDuration, notBefore: floor)
            return .window(window, trigger: .predicted, why: "planned: \(slot.why)")
        }
        return .never(why: why.map { "\($0), until \(ISO8601.string(floor))" } ?? "nothing is planned before midnight")
    }
}
