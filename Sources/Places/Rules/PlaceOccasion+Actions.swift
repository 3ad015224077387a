import BackgrounderAPI
import FoundationEssentials
import SystemSupport

/// The reason why an action does not start.
struct PlaceObstacle: Error {
    var outcome: PlaceAction.Outcome
    var detail: String

    init(_ outcome: PlaceAction.Outcome, _ detail: String) { (self.outcome, self.detail) = (outcome, detail) }
}

extension PlaceOccasion {
    /// Returns the work of an action, and when it is too late to start it.
    func start(
        _ action: PlaceRule.Action,
        at now: MonotonicTime,
        utcOffset: (Date) -> Int
    ) throws(PlaceObstacle) -> (operation: DueAction.Operation, deadline: MonotonicTime?) {
        switch action {
        case .fetch(let source): return (.fetch(source: source), nil)
        case .task(let hook):
            return (.task(hook: hook, place: place.name, event: event.event, sourceId: place.sourceId), nil)
        case .announce(let announcement):
            let deadline = MonotonicTime(seconds: arrival.seconds + announcement.expires.seconds)
            guard now <= deadline else {
                throw PlaceObstacle(.expired, "the event was more than \(Durations.text(announcement.expires)) ago")
            }
            let (duck, priority) = (announcement.duck, announcement.priority)
            switch announcement.content {
            case .item(let template):
                let item = try fill(template, .path, utcOffset: utcOffset)
                return (.announce(item: item, duck: duck, priority: priority), deadline)
            case .text(let template):
                let text = try fill(template, .speech, utcOffset: utcOffset)
                return (.say(text: text, duck: duck, priority: priority), deadline)
            }
        }
    }

    private func fill(_ template: PlaceTemplate, _ use: PlaceTemplate.Use, utcOffset: (Date) -> Int)
        throws(PlaceObstacle) -> String
    {
        let offset = utcOffset(event.timestamp)
        do throws(PlaceTemplate.FillError) {
            return try template.filled(use) { value(of: $0, utcOffset: offset) }
        } catch {
            switch error {
            case .unknown(let name): throw PlaceObstacle(.failed, Self.problem(ofUnknown: name))
            case .unsafe(let name, let value):
                let value = value.quotedInMessage
                throw PlaceObstacle(.refused, "{\(name)} is \(value), which cannot be part of a file name")
            case .tooLong:
                throw PlaceObstacle(.failed, "the text has more than \(PlaceTemplate.longestResult) bytes")
            }
        }
    }

    private static func problem(ofUnknown placeholder: String) -> String {
        switch placeholder {
        case "distance", "eta": "{\(placeholder)} is not known for this event"
        case "source", "sourceId": "the place has no \(placeholder)"
        default: "the place has no property \(placeholder.quotedInMessage)"
        }
    }
}
