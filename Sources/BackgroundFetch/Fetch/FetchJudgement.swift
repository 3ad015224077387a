/// Numbers that are judgement, not law. Seconds where nothing else is said.
enum FetchJudgement {
    /// The shortest time between two automatic fetches of a source with the interval `minimum`: WorkManager's.
    static let minimumFloor = 900.0
    /// A bound may make a planned run so much late: timers are late by milliseconds, and a run of seconds must not cost a slot.
    static let allowedDelay = 60.0
    /// Before the end of the budget, the run is told of.
    static let warning = 5.0
    /// The longest that a server's word on freshness or `Retry-After` holds a source back.
    static let longestServerWord = 86_400.0
    static let firstBackoff = 60.0
    static let longestBackoff = 21_600.0
    /// Durations that the credit and the start of a planned run are reckoned from.
    static let keptDurations = 20
    /// Bytes as they come over the wire.
    static let wireLimit = 4 << 20
    /// Bytes of content, unpacked.
    static let contentLimit = 16 << 20
    static let sourceLimit = 200
    /// Items of a feed that are kept to be shown.
    static let itemLimit = 500
    /// Enclosures of a source that wait to be handed to the transfers.
    static let downloadLimit = 1000
    /// Of these, so many at once.
    static let handover = 20
    /// Opens that follow one so soon are the same look.
    static let sameLook = 60.0
    /// Opens of a source that are kept.
    static let openLimit = 2000
    /// 2025-01-01: a clock that shows less was never set, and says nothing about habits.
    static let oldestClock = 1_735_689_600.0
    /// Of a reason, in characters.
    static let reasonLength = 300
}
