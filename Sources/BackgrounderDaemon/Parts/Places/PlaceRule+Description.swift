import BackgrounderAPI
import Places
import SystemSupport

extension PlaceRuleDescription {
    /// Describes a rule, without its problems.
    init(_ rule: PlaceRule) {
        self.init(name: rule.name, on: rule.event, once: rule.once.rawValue)
        switch rule.scope {
        case .all: break
        case .tags(let tags): self.tags = tags
        case .places(let places): self.places = places
        }
        switch rule.watch {
        case .eta(let seconds): eta = seconds
        case .within(let meters): within = meters
        case .dwell(let seconds): dwell = seconds
        case nil: break
        }
        cooldown = rule.cooldown?.seconds
        hours = rule.hours?.description
        if let announcement = rule.announcement {
            switch announcement.content {
            case .item(let template): announce = template.description
            case .text(let template): say = template.description
            }
            duck = announcement.duck
            priority = announcement.priority
            expires = announcement.expires.seconds
        }
        fetch = rule.fetch
        task = rule.task
    }
}
