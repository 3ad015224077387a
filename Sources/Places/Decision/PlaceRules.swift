/// The numbers of the decisions. docs/behaviour.md explains them.
enum PlaceRules {
    /// Core Location's scale is the root mean square of the distance, √2 standard deviations.
    static let accuracyToSigma = 2.0.squareRoot()
    /// Metres. Receivers state less than they err.
    static let leastSigma = 3.0
    /// Metres, for a fix without an accuracy, such as one of a drawn GPX track.
    static let assumedAccuracy = 5.0
    /// A fix decides nothing about a place with a smaller radius than this share of its accuracy.
    static let leastRadiusShare = 0.5

    /// Standard deviations from the boundary at which a side has a probability of 0.9.
    static let sure = 1.2816
    /// Metres outside that a moving machine must reach to leave.
    static let leaveMargin = 10.0
    /// Seconds that the fixes outside must span while the machine moves.
    static let leaveSpan = 3.0
    /// Standard deviations outside at which one fix of a moving machine suffices.
    static let leaveInOneFix = 10.0

    /// Tuned: without movement, standard deviations inside for `enter` and outside for `leave`. The noise must cross their sum, which
    /// happens less than once in 1,000 hours.
    static let standingEnter = 3.5
    static let standingLeave = 6.0
    /// Seconds that such fixes must span.
    static let standingSpan = 20.0

    /// Seconds without a fix after which nothing connects the fixes before and after.
    static let longestGap = 60.0
    /// Metres per second.
    static let longestPassSpeed = 120.0
    static let shortestPassSpeed = 1.5

    /// The tolerance of a course in degrees if a place has none.
    static let courseTolerance = 60.0
}
