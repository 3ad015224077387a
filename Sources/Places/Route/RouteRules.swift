/// The numbers of following a route. docs/behaviour.md explains them.
enum RouteRules {
    /// Metres before a stop at which the machine has arrived. Tuned: drivers stop short of it.
    static let arrivalDistance = 15.0
    /// Metres past a stop at which a moving machine has left it.
    static let leaveDistance = 15.0
    /// Standard deviations more that a machine must be past a stop if nothing else shows that it moves.
    static let standingLeave = 6.0

    /// A fix with a worse accuracy in metres decides nothing.
    static let worstAccuracy = 50.0
    /// Metres from the shape, beyond the accuracy, at which a machine is off the route.
    static let offRoute = 60.0
    /// Seconds off the route after which it is a diversion.
    static let diversionSpan = 60.0
    /// Metres that the machine may fall back on the shape before it is off the route.
    static let fallBack = 60.0
    /// Metres per second.
    static let longestSpeed = 40.0
    /// Seconds without a fix after which the run is over.
    static let longestGap = 1_800.0
    /// Seconds without a match up to which the best one is taken. After more, it must be clearly better than others.
    static let shortGap = 5.0
    /// The difference of two costs, in squared standard deviations, at which the lower one is clearly better.
    static let clearly = 9.0
    /// Metres along the shape from which two matches are different.
    static let apart = 60.0

    /// Metres from the shape, beyond the standard deviation, up to which the machine is found on it.
    static let joinDistance = 30.0
    /// Metres along the shape that show that the machine follows it.
    static let joinAdvance = 60.0
    /// Metres that suffice near the beginning, where a run is expected to begin, or ahead of where the machine was lost.
    static let shortAdvance = 25.0
    /// Metres from the beginning of the shape in which a run is expected to begin.
    static let beginning = 100.0
    /// Metres along the shape that show that the machine began a new run, or went far back.
    static let newRunAdvance = 300.0
    /// Metres that a machine may return behind the point at which it left the route.
    static let returnBehind = 500.0
}
