/// The limits and times of fetching. Times are in seconds.
enum FetchLimits {
    /// The floor: the shortest time between two automatic fetches of a source with the interval `minimum`, as in
    /// Android's WorkManager.
    static let minimumFloor = 900.0
    /// How late a bound may make a planned run before its slot is skipped. Tuned: timers fire some milliseconds late,
    /// and runs take seconds; neither must cost a slot.
    static let allowedDelay = 60.0
    /// How long before the end of the budget a warning is logged.
    static let warning = 5.0
    /// The longest time for which a server can hold a source back, by its freshness or `Retry-After`.
    static let longestServerWord = 86_400.0
    /// The maximum delay after the first failure; it doubles with each further one.
    static let firstBackoff = 60.0
    static let longestBackoff = 21_600.0
    /// The number of durations from which the credit and the start of a planned run are computed.
    static let keptDurations = 20
    /// Bytes of a reply as received.
    static let wireLimit = 4 << 20
    /// Bytes of content after decompression.
    static let contentLimit = 16 << 20
    static let sourceLimit = 200
    /// Items of a feed to store for display.
    static let itemLimit = 500
    /// Enclosures of a source that may wait for their handover to the transfers.
    static let downloadLimit = 1000
    /// Enclosures to hand over at a time.
    static let handover = 20
    /// Two opens within this time count as one.
    static let sameLook = 60.0
    /// Opens of a source to remember.
    static let openLimit = 2000
    /// Characters after which the reason of a failure is truncated.
    static let reasonLength = 300
}
