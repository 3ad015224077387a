package import BackgrounderAPI
package import SystemSupport

/// The actions that rules start because of some events, and the firings to store with them in one transaction.
package struct PlaceRuling: Sendable {
    /// The actions of each occasion, to store with its event.
    ///
    /// An action that is to run has failed with the detail ``unfinished`` until its outcome replaces it.
    package var actions: [[PlaceAction]] = []
    /// The firings to insert or replace.
    package var saved: [PlaceFiring] = []
    /// The firings to delete. Some may never have been stored.
    package var removed: [PlaceFiring.Key] = []
    /// The actions to start after the transaction, in this order.
    package var due: [DueAction] = []

    /// The detail of an action that was to run, and has not.
    package static let unfinished = "the service stopped before it ran"
}

/// An action to start.
package struct DueAction: Hashable, Sendable {
    /// The work of an action.
    package enum Operation: Hashable, Sendable {
        /// Plays a file. `item` is a path that may be relative. Without `duck`, the music is on hold meanwhile.
        case announce(item: String, duck: Double?, priority: Int)
        /// Speaks a text.
        case say(text: String, duck: Double?, priority: Int)
        /// Fetches a source.
        case fetch(source: String)
        /// Runs a task hook.
        case task(hook: String, place: String, event: PlaceEventKind, sourceId: String?)
    }

    /// The index of its occasion.
    package var occasion: Int
    /// The index of its action among those of the occasion.
    package var action: Int
    /// The name of the rule.
    package var rule: String
    /// When it is too late to start; `nil` if never.
    package var deadline: MonotonicTime?
    package var operation: Operation

    /// Creates an action.
    package init(occasion: Int, action: Int, rule: String, deadline: MonotonicTime? = nil, operation: Operation) {
        self.occasion = occasion
        self.action = action
        self.rule = rule
        self.deadline = deadline
        self.operation = operation
    }

    /// Returns whether it is too late to start at `time`.
    package func isExpired(at time: MonotonicTime) -> Bool { deadline.map { $0 < time } ?? false }
}
