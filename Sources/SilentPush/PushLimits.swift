/// The limits and times of silent push. Tuned: MQTT prescribes none of them.
enum PushLimits {
    /// Pushed fetches of one source an hour.
    static let startsPerHour = 3
    /// Seconds.
    static let hour = 3600.0
    /// Seconds without a new message before the last of these begins, so that it covers the newest message of a burst.
    static let calm = 5.0
    /// Seconds after the first message when it begins even if the burst continues.
    static let longestStorm = 600.0
    /// Seconds after which an alert is shown even if the fetch has not ended.
    static let alertDelay = 30.0
    /// Pushes; each costs a thread and a connection.
    static let mostPushes = 32
    /// Seconds until a fetch is retried whose start could not be saved.
    static let storeRetry = 30.0
    /// Seconds until a session that the system refused is retried.
    static let sessionRetry = 30.0
}

/// How many message ids the journal remembers, and for how long, to detect duplicates.
package enum PushMemory {
    /// Tuned: more than a broker is likely to deliver again.
    package static let ids = 1000
    /// Tuned: one week.
    package static let seconds = 7 * 86_400.0
}
