import BackgrounderAPI
import FoundationEssentials
import SilentPush
import StateStore

/// The receiver's journal, backed by the store.
struct StorePushJournal: PushJournal {
    let store: StateStore

    /// Returns the stored pushes.
    func saved() async throws -> SavedPushes {
        SavedPushes(
            pushes: try store.pushes(),
            waiting: try await store.recoverPushMessages(),
            starts: try store.pushStarts()
        )
    }

    func change(removing removed: [String], adding pushes: [StoredPush], adopting adopted: [String]) async throws {
        try await store.changePushes(removing: removed, adding: pushes, adopting: adopted)
    }

    func receive(_ message: WaitingPush, of push: String) async throws -> Bool {
        try await store.accept(
            message,
            of: push,
            remembering: PushMemory.ids,
            for: PushMemory.seconds
        )
    }

    func count(_ reason: PushRejection, of push: String) async throws {
        var counts = PushIgnored()
        counts.count(reason)
        try await store.count(counts, of: push)
    }

    func begin(_ source: String, at time: Date) async throws { try await store.beginPush(source, at: time) }

    func end(_ source: String, began: Date, isUndone: Bool) async throws {
        try await store.endPush(source, began: began, takenBack: isUndone)
    }

    func alerted(_ source: String, id: String) async throws { try await store.pushAlerted(source, id: id) }
}
