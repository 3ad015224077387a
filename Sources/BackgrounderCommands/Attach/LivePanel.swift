/// The panels of the live view, in the order of their keys `1` to `6`.
enum LivePanel: Int, CaseIterable, Sendable {
    case audio = 1
    case location, tasks, fetch, transfers, log

    var title: String {
        switch self {
        case .audio: "Audio"
        case .location: "Location"
        case .tasks: "Tasks"
        case .fetch: "Fetch"
        case .transfers: "Transfers"
        case .log: "Log"
        }
    }
}
