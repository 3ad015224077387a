import PlacesSimulation

/// The simulations of Tests/PlacesTests, in full length.
enum Simulations {
    struct Standing: Encodable {
        var hours = 0.0
        var pairs = 0
        var peers = 0
    }

    /// Stands `hours` at each of 31 distances up to 30 m from the boundary of circles of 20 m and 50 m, with and without a
    /// reported speed.
    static func stand(hours: Double) -> Standing {
        var result = Standing()
        for radius in [20.0, 50] {
            for reportsSpeed in [true, false] {
                for outside in stride(from: -30.0, through: 30, by: 2) where radius + outside >= 0 {
                    let pairs = Trials.stand(
                        outside: outside,
                        radius: radius,
                        hours: hours,
                        reportsSpeed: reportsSpeed,
                        seed: UInt64(1_000 + outside + radius)
                    )
                    result.hours += hours
                    result.pairs += pairs.monitor
                    result.peers += pairs.peers
                }
            }
        }
        return result
    }

    struct Visits: Encodable {
        var radius: Double
        var count = 0
        var wrong = 0
        var peers = 0
    }

    /// Makes `count` visits at each of three speeds, three stays, and with and without a reported speed.
    static func visits(count: Int) -> [Visits] {
        [10.0, 15, 20, 30, 50].map { radius in
            var result = Visits(radius: radius)
            var random = Randomness(seed: 9)
            for reportsSpeed in [true, false] {
                for (speed, stay) in [1.4, 3, 8].flatMap({ speed in [5.0, 60, 600].map { (speed, $0) } }) {
                    for _ in 0..<count {
                        let events = Trials.visit(
                            radius: radius,
                            speed: speed,
                            stay: stay,
                            reportsSpeed: reportsSpeed,
                            random: &random
                        )
                        result.count += 1
                        if !events.monitor.isOneVisit { result.wrong += 1 }
                        if !events.peers.isOneVisit { result.peers += 1 }
                    }
                }
            }
            return result
        }
    }

    struct Latency: Encodable {
        var radius: Double
        var speed: Double
        var enter: Double
        var leave: Double
        var wrong: Int
    }

    /// Drives `count` times through circles, at most half of the radius beside the centre, and returns the 95th percentiles in
    /// seconds.
    static func latency(count: Int) -> [Latency] {
        [30.0, 50, 100, 300].flatMap { radius in
            [5.0, 10, 30].map { speed in
                var random = Randomness(seed: 5)
                var (enters, leaves): ([Double], [Double]) = ([], [])
                for _ in 0..<count {
                    let drive = Trials.latency(
                        radius: radius,
                        speed: speed,
                        offset: random.uniform(0...(radius / 2)),
                        random: &random
                    )
                    let events = drive.comparison.monitor
                    guard events.isOneVisit else { continue }
                    enters.append(events.enters[0] - drive.enter)
                    leaves.append(events.leaves[0] - drive.leave)
                }
                let rank = enters.count * 95 / 100
                return Latency(
                    radius: radius,
                    speed: speed,
                    enter: enters.sorted()[rank],
                    leave: leaves.sorted()[rank],
                    wrong: count - enters.count
                )
            }
        }
    }

    struct Passes: Encodable {
        var count = 0
        var missed = 0
        var peers = 0
    }

    /// Passes a circle of 30 m at 30 m/s with a fix every 10 s.
    static func passes(count: Int) -> Passes {
        var result = Passes(count: count)
        var random = Randomness(seed: 7)
        for _ in 0..<count {
            let drive = Trials.latency(
                radius: 30,
                speed: 30,
                offset: random.uniform(0...15),
                every: 10,
                random: &random
            )
            let events = drive.comparison.monitor
            if events.passes.count + events.enters.count != 1 || events.leaves.count != events.enters.count {
                result.missed += 1
            }
            if drive.comparison.peers.enters.isEmpty { result.peers += 1 }
        }
        return result
    }

    struct Stops: Encodable {
        var count: Int
        var error: Double
        var wrong: Int
        var repeated: Int
        var missed: Int
    }

    /// Drives `lines` bus lines with 20 stops, and returns the 90th percentile of the error of announcements in seconds.
    static func stops(lines: Int) -> Stops {
        var result = BusLine.Result()
        for seed in 0..<lines {
            result += BusLine.drive(stops: 20, speed: [8, 11, 14][seed % 3], eta: 25, seed: UInt64(seed))
        }
        let errors = result.errors.map(abs).sorted()
        return Stops(
            count: 20 * lines,
            error: errors[errors.count * 9 / 10],
            wrong: result.wrong,
            repeated: result.repeated,
            missed: result.missed
        )
    }
}

extension Trials.Events {
    var isOneVisit: Bool { initial == 0 && enters.count == 1 && leaves.count == 1 && passes.isEmpty }
}
