import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport
import Testing

/// What happens off the route, in gaps, and with positions that are wrong.
@Suite struct RouteLostTests {
    private let end = GroundPoint(2_000, 0)

    /// Around the stop at 1,000 m on a street 400 m north.
    private func detour(_ script: inout RouteScript) -> [String] {
        script.drive(
            GroundPoint(800, 0),
            GroundPoint(800, 400),
            GroundPoint(1_200, 400),
            GroundPoint(1_200, 0),
            end
        )
    }

    @Test func `a diversion begins, ends and skips the stop that it leaves out`() throws {
        var script = try RouteScript()
        let events = detour(&script)
        #expect(
            events.drop { $0 != "next 2" }
                == [
                    "next 2", "diversionBegin", "diversionEnd", "skip 2", "next 3", "arrive 3", "leave 3", "next 4",
                    "arrive 4", "finish 4",
                ]
        )
        #expect(script.monitor.progress.states == [.left, .left, .skipped, .left, .at])
    }

    @Test func `a diversion that returns before the next stop skips nothing`() throws {
        var script = try RouteScript()
        let events = script.drive(
            GroundPoint(560, 0),
            GroundPoint(560, 350),
            GroundPoint(900, 350),
            GroundPoint(900, 0),
            GroundPoint(1_100, 0)
        )
        #expect(
            events.drop { $0 != "next 2" }
                == ["next 2", "diversionBegin", "diversionEnd", "arrive 2", "leave 2", "next 3"]
        )
    }

    @Test func `a short detour skips a stop without a diversion`() throws {
        var script = try RouteScript()
        let events = script.drive(
            GroundPoint(900, 0),
            GroundPoint(900, 150),
            GroundPoint(1_100, 150),
            GroundPoint(1_100, 0),
            GroundPoint(1_300, 0),
            speed: 15
        )
        #expect(events.drop { $0 != "next 2" } == ["next 2", "skip 2", "next 3"])
    }

    @Test func `a machine that turns around is on a diversion, also on the street of the route`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(1_200, 0))
        #expect(script.drive(GroundPoint(500, 0)) == ["diversionBegin"])
        #expect(script.monitor.progress.diverted)
    }

    @Test func `a clock that goes back does not delay a diversion`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0), GroundPoint(700, 200))
        script.pass(-3_600)
        #expect(script.drive(GroundPoint(700, 900)) == ["diversionBegin"])
    }

    @Test func `a machine that began again has a new run`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(1_600, 0))
        _ = script.drive(GroundPoint(0, 0))
        let events = script.drive(GroundPoint(600, 0))
        #expect(events == ["join", "next 1", "arrive 1", "leave 1", "next 2"])
        #expect(script.monitor.progress.states == [.left, .left, .ahead, .ahead, .ahead])
    }

    @Test func `a standing machine with a wrong position is not on a diversion`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        script.pass(1)
        #expect(script.fix(GroundPoint(700, 150)).isEmpty)
        #expect(script.wait(300).isEmpty)
        #expect(!script.monitor.progress.diverted)
    }

    @Test(arguments: [GroundPoint(70, 0), GroundPoint(-70, 0), GroundPoint(0, 90), GroundPoint(50, -60)])
    func `a jump of the position decides nothing, and stops meanwhile are not missed`(jump: GroundPoint) throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(900, 0))
        var events: [(String, Double)] = []
        for second in 1...25 {
            script.pass(1)
            let east = 900 + 10 * Double(second)
            let isJump = (3...14).contains(second)
            let point = isJump ? GroundPoint(east + jump.east, jump.north) : GroundPoint(east, 0)
            for decision in script.fix(point, speed: 10, course: 90) {
                events.append((RouteScript.text(decision), east))
            }
        }
        #expect(events.map(\.0) == ["arrive 2", "leave 2", "next 3"])
        #expect(events.map(\.1).allSatisfy { abs($0 - 1_000) <= 40 })
    }

    @Test func `stops in a gap are passed at an unknown time`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        script.pass(300, to: GroundPoint(1_650, 0))
        let events = script.drive(GroundPoint(1_700, 0))
        #expect(events == ["arrive 2?", "leave 2?", "next 3", "arrive 3?", "leave 3?", "next 4"])
    }

    @Test func `after a gap a machine stands at its stop`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        script.pass(200, to: GroundPoint(995, 0))
        #expect(script.wait(5) == ["arrive 2?"])
    }

    @Test func `the run is over after 30 minutes without a fix`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        script.pass(1_790)
        #expect(script.wait(1).isEmpty)
        #expect(script.monitor.progress.next == 2)
        script.pass(1_800)
        #expect(script.wait(1).isEmpty)
        #expect(script.monitor.progress.next == nil)
        #expect(script.drive(GroundPoint(900, 0)) == ["join", "next 2"])
    }

    @Test func `after a gap in a loop the course decides between two passages`() throws {
        let line = (
            shape: [GroundPoint(0, 0), GroundPoint(800, 0), GroundPoint(0, 0)],
            stops: [
                GroundPoint(10, 0), GroundPoint(500, -5), GroundPoint(790, 0), GroundPoint(400, 5), GroundPoint(10, 5),
            ]
        )
        var script = try RouteScript(line)
        _ = script.drive(GroundPoint(300, 0))
        script.pass(120, to: GroundPoint(600, 0))
        #expect(script.wait(30).isEmpty)
        #expect(script.monitor.progress.next == 1)
        let events = script.drive(GroundPoint(420, 0))
        #expect(events.prefix(6) == ["arrive 1?", "leave 1?", "next 2", "arrive 2?", "leave 2?", "next 3"])
    }

    @Test func `fixes with a bad accuracy decide nothing`() throws {
        var script = try RouteScript()
        script.accuracy = 51
        #expect(script.drive(end).isEmpty)
        #expect(script.monitor.progress.progress == nil)
        var good = try RouteScript()
        good.accuracy = 50
        #expect(good.drive(end).last == "finish 4")
    }

    @Test(arguments: [nil, 5, -1, .nan, .infinity])
    func `a route is followed without speeds, and with accuracies that say nothing`(accuracy: Double?) throws {
        var script = try RouteScript()
        script.reportsSpeed = false
        script.accuracy = accuracy
        let events = script.drive(end)
        let arrivals = events.filter { $0.hasPrefix("arrive") }
        #expect(arrivals.suffix(4) == ["arrive 1", "arrive 2", "arrive 3", "arrive 4"])
    }

    @Test func `fixes that are not numbers are ignored`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        let state = script.monitor.state
        let good = GroundPoint(710, 0).coordinate
        for coordinate in [
            Coordinate(latitude: .nan, longitude: 10), Coordinate(latitude: 53, longitude: .infinity),
            Coordinate(latitude: 91, longitude: 10),
        ] {
            let fix = PlaceFix(timestamp: RouteScript.date(71), arrival: .init(seconds: 1_071), coordinate: coordinate)
            #expect(script.monitor.receive(fix).isEmpty)
        }
        for seconds in [Double.nan, .infinity, -.infinity] {
            let time = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(
                script.monitor.receive(PlaceFix(timestamp: time, arrival: .init(seconds: 1), coordinate: good)).isEmpty
            )
        }
        #expect(script.monitor.state == state)
        for value in [Double.nan, .infinity, -1, 1e300] {
            script.pass(1)
            let fix = PlaceFix(
                timestamp: RouteScript.date(script.time),
                arrival: .init(seconds: 1),
                coordinate: good,
                accuracy: 5,
                speed: value,
                course: value
            )
            #expect(script.monitor.receive(fix).isEmpty)
        }
        script.pass(0, to: GroundPoint(720, 0))
        #expect(script.drive(GroundPoint(1_100, 0)) == ["arrive 2", "leave 2", "next 3"])
    }

    @Test func `a clock that goes back, stands still or jumps repeats nothing`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        script.pass(-3_600)
        #expect(script.drive(GroundPoint(1_100, 0)) == ["arrive 2", "leave 2", "next 3"])
        let state = script.monitor.state
        #expect(script.fix(GroundPoint(1_105, 0), speed: 10, course: 90).isEmpty)
        #expect(script.monitor.state == state)
        #expect(script.drive(GroundPoint(1_600, 0)) == ["arrive 3", "leave 3", "next 4"])
        script.pass(1e15)
        #expect(script.wait(1).isEmpty)
        script.pass(-1e15)
        #expect(!script.drive(GroundPoint(1_800, 0)).contains("arrive 3"))
    }
}
