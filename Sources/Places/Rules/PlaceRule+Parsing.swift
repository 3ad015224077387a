import BackgrounderAPI
import SystemSupport

extension RuleFields {
    static let knownOfRule = [
        "name", "on", "tags", "places", "eta", "within", "dwell", "once", "cooldown", "hours", "announce", "say",
        "fetch",
        "task",
    ]

    /// Bytes.
    private static let longestName = 100
    private static let longestTemplate = 4096
    /// Tuned: a fix must be compared with all places within this time or distance.
    private static let etas = Duration.seconds(1)...Duration.seconds(3600)
    private static let distances = 1.0...50_000
    private static let long = Duration.seconds(1)...Duration.seconds(365 * 86_400)
    private static let expiries = Duration.seconds(1)...Duration.seconds(86_400)

    /// Reads the name of a rule; `nil` if it is absent or has a fault.
    mutating func ruleName() -> String? {
        guard has("name") else {
            fault("name", "is missing", "add one such as name: next-stop")
            return nil
        }
        return text("name", allowed: "1 to \(Self.longestName) bytes without control characters") { text in
            let isValid = (1...Self.longestName).contains(text.utf8.count) && text == text.withoutControlCharacters
            return isValid ? text : nil
        }
    }

    /// Reads the rest of a rule; `nil` if it has a fault.
    mutating func rule(named name: String?) -> PlaceRule? {
        let event = word("on", PlaceEventKind.self)
        if !has("on") { fault("on", "is missing", "add the event, such as on: enter") }
        let watch = watch(of: event)
        let scope = scope()
        let once = word("once", PlaceRule.Once.self)
        let cooldown = duration("cooldown", in: Self.long)
        let hours = text("hours", allowed: "local times such as 05:00-23:00") { DailyHours($0) }
        let announcement = announcement()
        let fetch = text("fetch", allowed: "the name of a fetch source") { $0.isEmpty ? nil : $0 }
        let task = text("task", allowed: "the name of a task hook") { $0.isEmpty ? nil : $0 }
        if !["announce", "say", "fetch", "task"].contains(where: has) {
            fault(nil, "the rule has no action", "add announce, say, fetch or task")
        }
        guard faults.isEmpty, let name, let event else { return nil }
        return PlaceRule(
            name: name,
            on: event,
            watch: watch,
            scope: scope,
            once: once ?? .visit,
            cooldown: cooldown,
            hours: hours,
            announcement: announcement,
            fetch: fetch,
            task: task
        )
    }

    /// Reads the time or distance of `approach` and `dwell`. Without a valid event, only their values are checked.
    private mutating func watch(of event: PlaceEventKind?) -> PlaceWatch? {
        let eta = duration("eta", in: Self.etas)
        let within = length("within", in: Self.distances)
        let dwell = duration("dwell", in: Self.long)
        guard let event else { return nil }
        if event != .approach {
            for field in ["eta", "within"] where has(field) {
                fault(field, "allowed only with on: approach", "remove it")
            }
        } else if has("eta"), has("within") {
            fault(nil, "eta and within exclude each other", "remove one of them")
        } else if !has("eta"), !has("within") {
            fault(nil, "on: approach needs a time or a distance", "add one such as eta: 25s or within: 200m")
        }
        if event != .dwell, has("dwell") {
            fault("dwell", "allowed only with on: dwell", "remove it")
        } else if event == .dwell, !has("dwell") {
            fault(nil, "on: dwell needs a time", "add one such as dwell: 2m")
        }
        return eta.map { .eta($0.seconds) } ?? within.map { .within($0) } ?? dwell.map { .dwell($0.seconds) }
    }

    private mutating func scope() -> PlaceRule.Scope {
        let tags = texts("tags", allowed: "a tag or a list of tags, such as [stop]")
        let places = texts("places", allowed: "a name or a list of names, such as [Harbour]")
        if has("tags"), has("places") { fault(nil, "tags and places exclude each other", "remove one of them") }
        return tags.map { .tags($0) } ?? places.map { .places($0) } ?? .all
    }

    private mutating func announcement() -> PlaceRule.Announcement? {
        if has("announce"), has("say") { fault(nil, "announce and say exclude each other", "remove one of them") }
        let item = announcement("announce", content: "item", allowed: "the path of a file") { .item($0) }
        let speech = announcement("say", content: "text", allowed: "a text") { .text($0) }
        return item ?? speech
    }

    /// Reads an announcement: a mapping with its content and options, or only the content.
    private mutating func announcement(
        _ field: String,
        content: String,
        allowed: String,
        _ make: (PlaceTemplate) -> PlaceRule.Announcement.Content
    ) -> PlaceRule.Announcement? {
        guard let value = self[field] else { return nil }
        if case .text = value {
            let template = template(field, allowed: allowed, longest: Self.longestTemplate)
            return template.map { PlaceRule.Announcement(make($0)) }
        }
        var inner = RuleFields(value, field: field, known: [content, "duck", "priority", "expires"])
        let template = inner.template(content, allowed: allowed, longest: Self.longestTemplate)
        if inner.faults.isEmpty, template == nil { inner.fault(content, "is missing", "add \(allowed)") }
        let duck = inner.share("duck")
        let priority = inner.text("priority", allowed: "a whole number such as 5") { Int($0) }
        let expires = inner.duration("expires", in: Self.expiries)
        add(inner)
        return template.map {
            PlaceRule.Announcement(
                make($0),
                duck: duck,
                priority: priority ?? 0,
                expires: expires ?? PlaceRule.Announcement.defaultExpiry
            )
        }
    }
}
