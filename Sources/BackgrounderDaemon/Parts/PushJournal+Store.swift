import BackgroundFetch
import BackgrounderAPI
import FoundationEssentials
import StateStore

/// The receiver's journal, backed by the store.
struct StorePushJournal: PushJournal {
    let store: StateStore

    /// Returns the stored pushes. A push of a later version that this one cannot read is skipped.
    func saved() async throws -> SavedPushes {
        let pushes = try store.pushes().compactMap { row -> StoredPush? in
            guard let address = try? BrokerAddress(row.url), let topic = try? TopicFilter(row.topic) else { return nil }
            return StoredPush(
                name: row.name,
                address: address,
                topic: topic,
                credentials: row.credentials,
                clientID: row.client,
                received: row.received,
                ignored: row.ignored
            )
        }
        let waiting = try await store.recoverPushMessages().map { row in
            WaitingPush(source: row.source, id: row.id, alert: row.alert, arrived: row.arrived)
        }
        return SavedPushes(pushes: pushes, waiting: waiting, starts: try store.pushStarts())
    }

    func add(_ push: StoredPush) async throws {
        try await store.add(
            PushRow(
                name: push.name,
                url: push.address.description,
                topic: push.topic.description,
                credentials: push.credentials,
                client: push.clientID
            )
        )
    }

    func removePush(_ name: String) async throws { try await store.removePush(name) }

    func take(_ message: WaitingPush, of push: String) async throws -> Bool {
        try await store.take(
            PushMessageRow(source: message.source, id: message.id, alert: message.alert, arrived: message.arrived),
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

    func end(_ source: String, began: Date, takenBack: Bool) async throws {
        try await store.endPush(source, began: began, takenBack: takenBack)
    }

    func alerted(_ source: String, id: String) async throws { try await store.pushAlerted(source, id: id) }
}
