package import BackgrounderAPI
package import FoundationEssentials
import MQTTClient

extension StoredPush {
    /// The options of its session.
    var options: MQTTOptions {
        MQTTOptions(address: address, credentials: credentials, clientID: clientID, topics: [topic])
    }

    /// Returns a random client identifier of 23 letters and digits, the form that every broker accepts (MQTT 3.1.1,
    /// 3.1.3.1).
    static func randomClientID() -> String {
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return "backgrounder" + String((0..<11).map { _ in characters[Int.random(in: characters.indices)] })
    }
}

/// The state that a restart restores.
package struct SavedPushes: Sendable {
    /// Oldest first.
    package var pushes: [StoredPush]
    /// At most one for each source.
    package var waiting: [WaitingPush]
    /// When the latest pushed fetches of each source began.
    package var starts: [String: [Date]]

    /// Creates a saved state; without arguments, that of a first start.
    package init(pushes: [StoredPush] = [], waiting: [WaitingPush] = [], starts: [String: [Date]] = [:]) {
        self.pushes = pushes
        self.waiting = waiting
        self.starts = starts
    }
}

/// The persistent storage of a ``PushReceiver``.
///
/// Each call has committed when it returns. It throws if the storage fails.
package protocol PushJournal: Sendable {
    /// Removes pushes, then stores new ones, and marks the pushes `adopted` as declared: all of this or nothing.
    func change(removing removed: [String], adding pushes: [StoredPush], adopting adopted: [String]) async throws

    /// Stores a message of `push`: remembers its id, counts it, and replaces the message that waits for the same
    /// source.
    ///
    /// - Returns: true if the id is new. Otherwise the message is counted as a duplicate and not stored.
    func receive(_ message: WaitingPush, of push: String) async throws -> Bool

    /// Counts an ignored message of `push`.
    func count(_ reason: PushRejection, of push: String) async throws

    /// Records that the fetch for the message that waits for `source` begins.
    func begin(_ source: String, at time: Date) async throws

    /// Records that the fetch of `source` that began at `began` has ended.
    ///
    /// - Parameter isUndone: true if the source was not fetched, so that the start does not count toward the hourly
    ///   limit.
    func end(_ source: String, began: Date, isUndone: Bool) async throws

    /// Records that the alert of the message with this id was shown.
    func alerted(_ source: String, id: String) async throws
}
