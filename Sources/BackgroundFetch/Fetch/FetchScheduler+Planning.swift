package import BackgrounderAPI
import FoundationEssentials

extension FetchScheduler {
    /// When `name` may and must run by itself, by the plan that it has.
    func timing(_ name: String, at date: Date) -> FetchTiming {
        guard let source = sources[name] else { return .never(why: "there is no such source") }
        return FetchTiming(
            source.definition,
            source.standing,
            plan: source.plan,
            nextOpen: source.habit?.nextOpen(after: date, zone: zone),
            isOverdue: source.isOverdue,
            isOn: isOn,
            isDeclared: !isSuspended
        )
    }

    /// Makes the plans that are over, or were made for another number of runs; where they hold nobody up.
    ///
    /// - Returns: whether it made one, which the timer knows nothing of yet.
    @discardableResult
    func refreshPlans() async -> Bool {
        var isNew = false
        for name in names {
            let date = now()
            guard let source = sources[name], source.definition.interval != .never else { continue }
            let (runs, spacing) = (runsPerDay(source, at: date), Self.spacing(source.standing))
            let isOther =
                source.definition.interval == .minimum
                && (source.plannedRuns != runs || source.plannedSpacing != spacing)
            guard source.planEnd <= date || isOther else { continue }
            // At once, so that whoever comes in the meantime does not plan the same.
            let midnight = zone.midnight(after: date)
            sources[name]?.planEnd = midnight
            sources[name]?.plannedRuns = runs
            sources[name]?.plannedSpacing = spacing
            let planned = await ContentQueue.run { [zone] () throws(FetchFailure) in
                Self.plan(source, runs: runs, spacing: spacing, from: date, midnight: midnight, zone)
            }
            guard case .success(let (habit, plan)) = planned, sources[name]?.planEnd == midnight else { continue }
            sources[name]?.habit = habit
            sources[name]?.plan = plan
            isNew = true
        }
        return isNew
    }

    /// The rest of this day, and the next one as it looks now.
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
        let used = source.standing.automaticRuns.count { $0 > midnight.addingTimeInterval(-86_400) }
        // Without a habit the runs are even, so that what is left of the day gets no more than its part.
        let share = habit.isKnown ? 1 : midnight.timeIntervalSince(date) / 86_400
        let left = max(0, min(runs - used, Int((Double(runs) * share).rounded(.up))))
        // Some seconds late is still in its slot.
        let late = habit.isKnown ? FetchJudgement.allowedDelay : 0
        let last = source.standing.lastAttempt.addingTimeInterval(-late)
        // Runs that the server does not want are not planned.
        let first = max(date, source.standing.serverFloor ?? date)
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

    /// The least seconds between the ends of two planned runs, in whole slots: the service's floor, and what the server says of
    /// freshness from the end of one to the begin of the next.
    private static func spacing(_ standing: FetchStanding) -> Double {
        let fresh = standing.freshness.map { $0 + standing.usualDuration - FetchJudgement.allowedDelay } ?? 0
        return (max(FetchJudgement.minimumFloor, fresh) / LocalTime.slot).rounded(.up) * LocalTime.slot
    }

    /// What quickness and news have earned, and being late has cost.
    func runsPerDay(_ source: Source, at date: Date) -> Int {
        let standing = source.standing
        let ofDay = standing.kills.count { date.timeIntervalSince($0) < 86_400 }
        return standing.credit.runsPerDay(
            durations: standing.durations,
            kills: standing.killsAmongDurations,
            killsOfDay: ofDay,
            budget: source.definition.budget
        )
    }

    /// After a time in which nothing could run: what would have is due once, at the first wakeup.
    func noteMissedRuns() {
        let date = now()
        for name in names {
            guard let source = sources[name], source.definition.interval == .minimum else { continue }
            let usual = 86_400 / Double(max(1, runsPerDay(source, at: date)))
            sources[name]?.isOverdue = date.timeIntervalSince(source.standing.lastAttempt) > usual
        }
    }

    /// All that is planned, in order of time.
    package func plan() async -> [PlanEntry] {
        await planAndArm()
        let date = now()
        var entries: [PlanEntry] = []
        for name in names {
            guard case .window(let window, let trigger, let why) = timing(name, at: date) else { continue }
            let first = trigger == .predicted ? window.deadline : window.earliest
            entries.append(PlanEntry(source: name, at: max(first, date), why: why))
            guard trigger == .predicted, let source = sources[name] else { continue }
            for slot in source.plan {
                let start = slot.end.addingTimeInterval(-source.standing.usualDuration)
                guard start > window.deadline else { continue }
                entries.append(PlanEntry(source: name, at: start, why: "planned: \(slot.why)"))
            }
        }
        return entries.sorted { ($0.at, $0.source) < ($1.at, $1.source) }
    }
}
