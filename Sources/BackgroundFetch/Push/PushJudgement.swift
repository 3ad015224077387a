/// The numbers of silent push that are judgement, not law.
enum PushJudgement {
    /// Bytes of a message (APNs allows as many).
    static let payloadLimit = 4096
    /// Fetches of one source an hour.
    static let startsPerHour = 3
    static let hour = 3600.0
    /// Seconds without a message before the last of these begins, so that it is for the newest of a storm.
    static let calm = 5.0
    /// Seconds after which it begins though the messages go on.
    static let longestStorm = 600.0
    /// Seconds from a message to its alert at the latest.
    static let alertDelay = 30.0
    /// A thread and a connection each.
    static let mostPushes = 32
    /// Seconds until what could not be stored is tried again.
    static let storeRetry = 30.0
    /// Seconds until a session is tried again for which the system had no room.
    static let sessionRetry = 30.0

    /// Seconds of silence after which the broker is asked for a sign of life.
    static let keepalive = 60
    /// Seconds for that sign.
    static let signOfLife = 20.0
    /// Seconds for the connection, and again for each answer of the broker.
    static let answerDelay = 10.0
    /// Bytes of a packet that libmosquitto gets to see; one that is larger is none of ours.
    static let packetLimit = 16 << 10
    static let firstRetry = 1.0
    static let longestRetry = 30.0
    /// Seconds that a connection must hold for the next one to be tried at once.
    static let steady = 30.0
}

/// For how many messages, and for how long, the journal knows that they came.
package enum PushMemory {
    package static let ids = 1000  // judgement: as long as a broker is likely to send one again
    package static let seconds = 7 * 86_400.0
}
