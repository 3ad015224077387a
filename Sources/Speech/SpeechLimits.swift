/// The limits of a ``SpeechCache``.
enum SpeechLimits {
    /// The maximum number of texts that are rendered ahead. Tuned: more than a tour or a bus line has.
    static let preparedTexts = 1000
    /// How long a returned file is kept in any case. Tuned: a player opens it within seconds.
    static let hold = Duration.seconds(60)
    /// The failures in a row after which no program is started for a while. Tuned: fewer may be due to the texts.
    static let failures = 3
    /// How often a text is tried before the next ``SpeechCache/prepare(_:)``.
    static let attempts = 5
    /// How much lower than that of the service the priority is while rendering ahead.
    static let niceness = 10
}
