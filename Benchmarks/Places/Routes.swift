import PlacesSimulation

extension Simulations {
    struct Routes: Encodable {
        var name: String
        var stops: Int
        var skips: Int
        /// Seconds, without the announcements before which a light, a jam or missing fixes came.
        var error: Double
        var wrong: Int
        var repeated: Int
        var missed: Int
    }

    private static var routeConditions: [(name: String, conditions: BusRun.Conditions)] {
        var steady = BusRun.Conditions()
        steady.jumps = 0
        let jumps = BusRun.Conditions()
        var diversions = steady
        diversions.drive.diversion = true
        var gaps = steady
        gaps.gaps = 6
        var restarts = jumps
        restarts.restarts = 6
        var late = steady
        late.startsLate = true
        var silent = steady
        silent.reportsSpeed = false
        return [
            ("steady", steady), ("20 jumps an hour", jumps), ("a diversion", diversions),
            ("6 gaps an hour", gaps), ("6 restarts and 20 jumps an hour", restarts), ("begun on the way", late),
            ("without speeds", silent),
        ]
    }

    /// Runs `runs` times along routes of about 24 stops in each condition, and returns the 90th percentiles of the error
    /// of announcements.
    static func routes(runs: Int) -> [Routes] {
        routeConditions.map { name, conditions in
            var result = BusRun.Result()
            for seed in 0..<max(1, runs) {
                result += BusRun.run(stops: 24, eta: 25, conditions, seed: UInt64(10_000 + seed))
            }
            let errors = result.errors.map(abs).sorted()
            return Routes(
                name: name,
                stops: result.stops,
                skips: result.skips,
                error: errors[errors.count * 9 / 10],
                wrong: result.wrong,
                repeated: result.repeated,
                missed: result.missed
            )
        }
    }
}
