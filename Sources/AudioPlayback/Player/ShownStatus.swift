import BackgrounderAPI
import FoundationEssentials

/// The status that clients received last, so that each change is reported once.
struct ShownStatus {
    private var currentID: Int?
    private var status = TimeControlStatus.stopped
    /// When the status last changed.
    private(set) var since = Date()

    init(currentID: Int?) { self.currentID = currentID }

    /// Returns whether that is a change.
    mutating func show(_ status: TimeControlStatus) -> Bool {
        guard status != self.status else { return false }
        self.status = status
        since = Date()
        return true
    }

    /// Returns whether that is a change.
    mutating func show(currentID: Int?) -> Bool {
        defer { self.currentID = currentID }
        return currentID != self.currentID
    }
}
