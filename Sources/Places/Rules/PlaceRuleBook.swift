package import BackgrounderAPI
package import FoundationEssentials
package import SystemSupport

/// Decides which rules fire because of events at places, and remembers it as long as a rule needs.
///
/// A value without side effects, for one thread at a time. The owner stores the firings of a ruling together with its
/// actions, and starts the actions after that, so that an action starts at most once, also across a crash:
///
///     var book = PlaceRuleBook(list.rules, firings: try store.firings())
///     let ruling = book.judge(occasions, at: .now)
///     try store.commit(ruling)
///     for action in ruling.due { … }
///
/// If the transaction fails, continue with a copy of the book from before.
package struct PlaceRuleBook: Sendable {
    private var rules: PlaceRuleIndex
    /// By place and rule.
    private var firings: [Int: [String: PlaceFiring]] = [:]
    private let utcOffset: @Sendable (Date) -> Int

    /// Seconds from a firing after which an `approach` begins another visit, without a `leave` or `pass` between.
    ///
    /// The monitor repeats an `approach` after the machine has moved away, and after a halt at a red light, because the
    /// time that remains grows while it stands. The first should be announced again, and the second should not.
    /// Tuned: halts are shorter than 10 minutes, and a bus on a loop returns later.
    package static let approachMemory = 600.0

    /// Creates a book that continues with stored firings.
    ///
    /// Those of unknown rules are kept, in case that the rule returns.
    ///
    /// - Parameter utcOffset: returns by how many seconds local time is ahead of UTC.
    package init(
        _ rules: [PlaceRule],
        firings: some Sequence<PlaceFiring> = [],
        utcOffset: @escaping @Sendable (Date) -> Int = { LocalClock.offset(at: $0) }
    ) {
        self.rules = PlaceRuleIndex(rules)
        self.utcOffset = utcOffset
        for firing in firings { self.firings[firing.key.placeId, default: [:]][firing.key.rule] = firing }
    }

    // MARK: Rules and places

    /// The watches of all rules, each once.
    package var watches: [PlaceWatch] { Self.watches(of: rules.all) }

    /// Returns the watches of the rules that apply to a place, each once.
    package func watches(of place: PlaceDefinition) -> [PlaceWatch] {
        Self.watches(of: rules.positions(on: [.approach, .dwell], at: place).lazy.map { rules.all[$0] })
    }

    /// Returns the texts that the rules may speak at a place, as far as they do not depend on the event. Each once.
    package func speech(at place: PlaceDefinition) -> [String] {
        var seen: Set<String> = []
        return rules.positions(on: PlaceEventKind.allCases, at: place).compactMap { position in
            let rule = rules.all[position]
            guard case .text(let template)? = rule.announcement?.content else { return nil }
            return try? template.filled(.speech) { PlaceOccasion.value(of: $0, at: place, rule.event) }
        }.filter { seen.insert($0).inserted }
    }

    private static func watches(of rules: some Sequence<PlaceRule>) -> [PlaceWatch] {
        var seen: Set<PlaceWatch> = []
        return rules.compactMap(\.watch).filter { seen.insert($0).inserted }
    }

    /// Replaces the rules. A rule continues with the firings of the former rule with its name.
    package mutating func setRules(_ rules: [PlaceRule]) { self.rules = PlaceRuleIndex(rules) }

    /// Forgets places that were removed, and returns the firings to delete.
    package mutating func placesRemoved(_ ids: some Sequence<Int>) -> [PlaceFiring.Key] {
        ids.flatMap { id in
            (firings.removeValue(forKey: id) ?? [:]).values.map(\.key).sorted { $0.rule < $1.rule }
        }
    }

    // MARK: Ruling

    /// Decides which rules fire.
    ///
    /// - Parameters:
    ///   - occasions: events in the order in which they happened.
    ///   - now: the present time. Announcements that have expired by then do not start.
    package mutating func judge(_ occasions: [PlaceOccasion], at now: MonotonicTime) -> PlaceRuling {
        var ruling = PlaceRuling()
        var changed: Set<PlaceFiring.Key> = []
        var due: [(rank: Rank, action: DueAction)] = []
        for (index, occasion) in occasions.enumerated() {
            if occasion.origin == .observed { changed.formUnion(endVisit(occasion.event)) }
            var actions: [PlaceAction] = []
            for order in rules.positions(on: [occasion.event.event], at: occasion.place)
            where occasion.concerns(rules.all[order]) {
                let rule = rules.all[order]
                let refusal = refusal(of: rule, occasion)
                var hasFired = false
                for action in rule.actions {
                    var (outcome, detail) = (PlaceAction.Outcome.failed, PlaceRuling.unfinished)
                    do throws(PlaceObstacle) {
                        if let refusal { throw refusal }
                        let start = try occasion.start(action, at: now, utcOffset: utcOffset)
                        let rank = Rank(priority: rule.priority, radius: occasion.rankedRadius, rule: order)
                        let item = DueAction(
                            occasion: index,
                            action: actions.count,
                            rule: rule.name,
                            deadline: start.deadline,
                            operation: start.operation
                        )
                        due.append((rank, item))
                        hasFired = true
                    } catch {
                        (outcome, detail) = (error.outcome, error.detail)
                    }
                    actions.append(PlaceAction(rule: rule.name, kind: action.kind, outcome: outcome, detail: detail))
                }
                if hasFired, let key = remember(rule, occasion) { changed.insert(key) }
            }
            ruling.actions.append(actions)
        }
        // The sort is stable: equal actions start in the order of their occasions.
        ruling.due = due.sorted { $0.rank < $1.rank }.map(\.action)
        for key in changed.sorted(by: { ($0.placeId, $0.rule) < ($1.placeId, $1.rule) }) {
            if let firing = firing(key) { ruling.saved.append(firing) } else { ruling.removed.append(key) }
        }
        return ruling
    }

    private func firing(_ key: PlaceFiring.Key) -> PlaceFiring? { firings[key.placeId]?[key.rule] }

    // MARK: Memory

    /// Ends the visit that `event` ends, and returns the firings that changed.
    ///
    /// A `leave` or `pass` ends the visit. An `enter` begins one, so it ends one whose `leave` was missed, for example
    /// because the place was changed meanwhile. The `approach` before an `enter` belongs to the new visit.
    private mutating func endVisit(_ event: PlaceEvent) -> [PlaceFiring.Key] {
        let isEnd = event.event == .leave || event.event == .pass
        guard isEnd || event.event == .enter && event.initial != true, let known = firings[event.placeId] else {
            return []
        }
        var changed: [PlaceFiring.Key] = []
        for (name, firing) in known where !firing.isVisitOver {
            let rule = rules.named(name)
            guard isEnd || rule?.event != .approach else { continue }
            var firing = firing
            firing.isVisitOver = true
            set(firing, of: rule)
            changed.append(firing.key)
        }
        return changed
    }

    /// Remembers that a rule fires, and returns the key of the firing.
    private mutating func remember(_ rule: PlaceRule, _ occasion: PlaceOccasion) -> PlaceFiring.Key? {
        guard occasion.origin == .observed else { return nil }
        let event = occasion.event
        let firing = PlaceFiring(
            key: PlaceFiring.Key(rule: rule.name, placeId: event.placeId),
            time: event.timestamp,
            utcOffset: utcOffset(event.timestamp),
            tripId: event.tripId,
            isVisitOver: event.event == .leave || event.event == .pass
        )
        let isKnown = self.firing(firing.key) != nil
        set(firing, of: rule)
        return isKnown || self.firing(firing.key) != nil ? firing.key : nil
    }

    /// Stores a firing, or forgets it if it cannot matter any more. That of an unknown rule may.
    private mutating func set(_ firing: PlaceFiring, of rule: PlaceRule?) {
        let matters = rule.map(firing.matters) ?? true
        firings[firing.key.placeId, default: [:]][firing.key.rule] = matters ? firing : nil
        if firings[firing.key.placeId]?.isEmpty == true { firings[firing.key.placeId] = nil }
    }

    // MARK: Conditions

    /// Returns why a rule does not fire; `nil` if it does.
    private func refusal(of rule: PlaceRule, _ occasion: PlaceOccasion) -> PlaceObstacle? {
        guard occasion.origin == .observed else { return nil }
        let event = occasion.event
        if let hours = rule.hours, !hours.contains(event.timestamp, utcOffset: utcOffset(event.timestamp)) {
            return PlaceObstacle(.hours, "outside \(hours)")
        }
        guard let last = firing(PlaceFiring.Key(rule: rule.name, placeId: event.placeId)) else { return nil }
        if let repetition = repetition(of: rule, event, last) {
            return PlaceObstacle(.once, "\(repetition), at \(ISO8601.string(last.time))")
        }
        let elapsed = last.elapsed(at: event.timestamp)
        // A clock that went back does not tell how long it was.
        guard let cooldown = rule.cooldown, elapsed >= 0, elapsed < cooldown.seconds else { return nil }
        let rest = Duration.seconds((cooldown.seconds - elapsed).rounded(.up))
        return PlaceObstacle(.cooldown, "\(Durations.text(rest)) of \(Durations.text(cooldown)) remained")
    }

    /// Returns that a rule already fired, with the period in which it may fire once; `nil` if it may fire again.
    private func repetition(of rule: PlaceRule, _ event: PlaceEvent, _ last: PlaceFiring) -> String? {
        let elapsed = last.elapsed(at: event.timestamp)
        let isAnotherVisit =
            last.isVisitOver || event.event == .approach && !(elapsed >= 0 && elapsed < Self.approachMemory)
        switch rule.once {
        case .always: return nil
        case .ever: return "already fired"
        case .day:
            let today = ClockText.day(event.timestamp, utcOffset: utcOffset(event.timestamp))
            return ClockText.day(last.time, utcOffset: last.utcOffset) == today ? "already fired on this day" : nil
        case .visit: return isAnotherVisit ? nil : "already fired on this visit"
        case .trip:
            guard let trip = event.tripId, let lastTrip = last.tripId else {
                return isAnotherVisit ? nil : "already fired on this visit"
            }
            return trip == lastTrip ? "already fired on this trip" : nil
        }
    }
}

/// The order in which actions start: the highest priority, the smallest place, and the first rule.
private struct Rank: Comparable {
    var priority: Int
    var radius: Double
    var rule: Int

    static func < (left: Rank, right: Rank) -> Bool {
        (right.priority, left.radius, left.rule) < (left.priority, right.radius, right.rule)
    }
}
