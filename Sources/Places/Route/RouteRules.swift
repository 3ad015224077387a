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
    /// Metres that the machine must move off the route in that time. The errors of a standing receiver are shorter.
    static let diversionWay = 60.0
    /// Fixes off the route, and the difference in metres between the way and the shape, that show that the stops in
    /// between were skipped and not passed.
    static let offFixes = 3
    static let otherWay = 100.0
    /// Seconds that a jump to a wrong position may last.
    static let longestJump = 20.0
    /// Metres by which it may jump, and what that costs in squared standard deviations. Tuned: receivers state a good
    /// accuracy meanwhile.
    static let jumpDistance = 80.0
    static let jumpCost = 6.0
    /// Metres that the machine may fall back on the shape before it is off the route.
    static let fallBack = 60.0
    /// Metres, beyond two standard deviations, by which the next match may differ from the way of the machine.
    static let margin = 6.0
    /// Metres per second.
    static let longestSpeed = 40.0
    /// Seconds without a fix on the route after which the run is over.
    static let longestGap = 1_800.0
    /// Seconds without a match up to which the best one is taken. After more, it must be clearly better than others.
    static let shortGap = 5.0
    /// The difference of two costs, in squared standard deviations, at which the lower one is clearly better.
    static let clearly = 9.0
    /// Metres along the shape from which two matches are different.
    static let apart = 60.0

    /// Degrees between the shape and the course of a machine that follows it. Tuned: at a corner both sides are 45 off.
    static let courseTolerance = 75.0
    /// Degrees for one that may be at a corner. Then, another passage is not clearly better.
    static let cornerTolerance = 120.0
    /// Degrees for a machine whose position is wrong.
    static let parallelTolerance = 30.0
    /// Degrees for a machine that is searched on the shape.
    static let joinTolerance = 45.0
    /// Metres per second from which the course counts.
    static let courseSpeed = 3.0
    /// Metres that are the standard deviation of a lane from the shape.
    static let laneSigma = 10.0

    /// Metres from the shape, beyond the standard deviation, up to which the machine is found on it.
    static let joinDistance = 30.0
    /// Metres along the shape that show that the machine follows it.
    static let joinAdvance = 60.0
    /// Metres that suffice near the beginning, where a run is expected to begin, or ahead of where it was lost.
    static let shortAdvance = 25.0
    /// The shares of the difference between the way and the shape that the machine must advance ahead of where it was
    /// lost: after a detour, and where the shape is longer than the way. Tuned: a detour may cross a later part of the
    /// route.
    static let detourShare = 0.05
    static let strangeShare = 0.2
    /// Metres from the beginning of the shape in which a run is expected to begin.
    static let beginning = 100.0
    /// Metres along the shape that show that the machine began a new run, or went far back.
    static let newRunAdvance = 300.0
    /// Metres by which the point of return may be before the point at which the machine left the route.
    static let returnBehind = 500.0
    /// Metres, beyond the standard deviation, by which a machine that follows the shape may move sideways.
    static let sideways = 15.0
    /// Fixes in a row that a search may miss.
    static let searchMisses = 3

    /// Metres per second squared with which vehicles start and stop. Tuned: passengers stand in a bus.
    static let acceleration = 1.0
    /// Degrees by which the shape turns in so many metres at a corner, and the speed there in metres per second.
    static let cornerAngle = 60.0
    static let cornerLength = 30.0
    static let cornerSpeed = 5.0
    /// The share of the time for slowing down before a stop. Tuned: vehicles pass some stops.
    static let slowDownShare = 0.5
}
