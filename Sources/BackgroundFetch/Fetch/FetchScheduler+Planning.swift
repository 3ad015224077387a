package import BackgrounderAPI
import FoundationEssentials
import SystemSupport

extension FetchScheduler {
    /// Returns when `name` runs automatically, according to its current plan.
    func timing(_ name: String, at date: Date) -> FetchTiming {
        guard let source = sources[name] else { return .never(why: "no such source") }
        return FetchTiming(
            source.definition,
            source.state,
            plan: source.plan,
            nextOpen: source.habit?.nextOpen(after: date, zone: zone),
            isOverdue: source.isOverdue,
            isOn: isOn,
            isDeclared: !isSuspended
        )
    }

    /// Replaces plans that have ended or were made for another number or spacing of runs. They are computed on the
    /// queue for content. Call ``wake(isRide:isOwn:)`` afterwards, which adapts the timer.
    func refreshPlans() async {
        for name in names where phase != .ending {
            let date = now()
            guard let source = sources[name], source.definition.interval != .never else { continue }
            let (runs, spacing) = (runsPerDay(source, at: date), Self.spacing(source.state))
            let isOther =
                source.definition.interval == .minimum
                && (source.plannedRuns != runs || source.plannedSpacing != spacing)
            guard source.planEnd <= date || isOther else { continue }
            // Set before suspending, so that concurrent calls do not make the same plan.
            let midnight = zone.midnight(after: date)
            let end = min(midnight, whenAKillIsForgotten(source, after: date) ?? midnight)
            sources[name]?.planEnd = end
            sources[name]?.plannedRuns = runs
            sources[name]?.plannedSpacing = spacing
            let (habit, plan) = await QueueExecutor.content.run { [zone] in
                Self.plan(source, runs: runs, spacing: spacing, from: date, midnight: midnight, zone)
            }
            guard sources[name]?.planEnd == end else { continue }
            sources[name]?.habit = habit
            sources[name]?.plan = plan
        }
    }

    /// Returns the habit of a source and a plan for the rest of today and for tomorrow; no plan unless the interval is
    /// `minimum`.
    private static func plan(
        _ source: Source,
        runs: Int,
        spacing: Double,
        from date: Date,
        midnight: Date,
        _ zone: LocalZone
    ) -> (UsageHabit, [PlannedSlot]) {
        let habit = UsageHabit(opens: source.opens, now: date, zone: zone)
        guard source.definition.interval == .minimum else { return (habit, []) }
        let used = source.state.automaticRuns.count { $0 > midnight.addingTimeInterval(-86_400) }
        // Without a habit the runs are evenly spaced, so the rest of the day gets only its share of them.
        let share = habit.isKnown ? 1 : midnight.timeIntervalSince(date) / 86_400
        let left = max(0, min(runs - used, Int((Double(runs) * share).rounded(.up))))
        // A run that ended some seconds late still counts for its slot.
        let late = habit.isKnown ? FetchLimits.allowedDelay : 0
        let last = source.state.lastAttempt.addingTimeInterval(-late)
        // Do not plan runs before the time that the server allows.
        let first = max(date, source.state.serverFloor ?? date)
        func plan(from: Date, until: Date, runs: Int, lastEnd: Date) -> [PlannedSlot] {
            FetchPlanner.plan(
                habit,
                from: max(from, first),
                until: until,
                runs: runs,
                lastEnd: lastEnd,
                spacing: spacing,
                zone: zone
            )
        }
        let today = plan(from: date, until: midnight, runs: left, lastEnd: last)
        let next = zone.midnight(after: midnight)
        return (habit, today + plan(from: midnight, until: next, runs: runs, lastEnd: today.last?.end ?? last))
    }

    /// Returns the minimum seconds between the ends of two planned runs, in whole slots. It is the floor, or the
    /// freshness that the server states, which counts from the end of a run to the start of the next.
    private static func spacing(_ state: FetchSourceState) -> Double {
        let fresh = state.freshness.map { $0 + state.usualDuration - FetchLimits.allowedDelay } ?? 0
        return (max(FetchLimits.minimumFloor, fresh) / LocalTime.slot).rounded(.up) * LocalTime.slot
    }

    /// Returns when the next run that exceeded its budget stops reducing ``runsPerDay(_:at:)``; `nil` if there is none.
    private func whenAKillIsForgotten(_ source: Source, after date: Date) -> Date? {
        source.state.kills.lazy.map { $0.addingTimeInterval(86_400) }.filter { $0 > date }.min()
    }

    /// Returns the number of planned runs a day that a source has earned.
    func runsPerDay(_ source: Source, at date: Date) -> Int {
        let state = source.state
        let ofDay = state.kills.count { date.timeIntervalSince($0) < 86_400 }
        return state.credit.runsPerDay(
            durations: state.durations,
            kills: state.killsAmongDurations,
            killsOfDay: ofDay,
            budget: source.definition.budget
        )
    }

    /// Marks sources as overdue if they probably missed a planned run while nothing could run. An overdue source runs
    /// once, as soon as possible.
    func noteMissedRuns() {
        let date = now()
        for name in names {
            guard let source = sources[name], source.definition.interval == .minimum else { continue }
            let usual = 86_400 / Double(max(1, runsPerDay(source, at: date)))
            sources[name]?.isOverdue = date.timeIntervalSince(source.state.lastAttempt) > usual
        }
    }

    /// Returns all planned runs in chronological order.
    package func plan() -> [PlanEntry] {
        let date = now()
        var entries: [PlanEntry] = []
        for name in names {
            guard case .window(let window, let trigger, let why) = timing(name, at: date) else { continue }
            let first = trigger == .predicted ? window.deadline : window.earliest
            entries.append(PlanEntry(source: name, at: max(first, date), why: why))
            guard trigger == .predicted, let source = sources[name] else { continue }
            for slot in source.plan {
                let start = slot.end.addingTimeInterval(-source.state.usualDuration)
                guard start > window.deadline else { continue }
                entries.append(PlanEntry(source: name, at: start, why: "planned: \(slot.why)"))
            }
        }
        return entries.sorted { ($0.at, $0.source) < ($1.at, $1.source) }
    }
}
