import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import Testing

@Suite struct PlaceMonitorTests {
    @Test func `a machine that starts inside has entered before, and leaves once`() {
        var script = MonitorScript()
        let first = script.fix(at: 0, 10)
        #expect(first.map(\.event) == [.enter])
        #expect(first.map(\.initial) == [true])
        #expect(script.monitor.visits[0]?.initial == true)
        #expect(script.stay(60).isEmpty)
        #expect(script.move(to: 120, speed: 5).map(\.event) == [.leave])
        #expect(script.monitor.visits.isEmpty)
    }

    @Test func `a moving machine enters by the first fix that is surely inside`() throws {
        var script = MonitorScript()
        script.fix(at: 0, -200, speed: 5, course: 90)
        let decisions = script.move(to: 0, speed: 5)
        let enter = try #require(decisions.first)
        #expect(decisions.map(\.event) == [.enter])
        #expect(enter.placeId == 0)
        #expect(enter.timestamp == MonitorScript.date(31))
        #expect(enter.fix.timestamp == enter.timestamp)
        #expect(abs(enter.distance - 5) < 0.1)
        #expect(abs(enter.sigma - 3.5355) < 0.001)
        #expect(abs(enter.probability - 0.921) < 0.005)
        #expect(!enter.initial)
        #expect(!enter.estimated)
    }

    @Test func `a moving machine leaves 10 m outside, and after fixes outside for 3 s`() throws {
        var slow = MonitorScript()
        slow.fix(at: 0, 0)
        let leave = try #require(slow.move(to: 100, speed: 2).first)
        #expect(leave.event == .leave)
        #expect(abs(leave.distance + 11) < 1.1)
        var fast = MonitorScript()
        fast.fix(at: 0, 0)
        let late = try #require(fast.move(to: 200, speed: 9).first)
        #expect(late.timestamp == MonitorScript.date(10))
    }

    @Test func `a machine that stands or drifts needs more distance`() {
        var script = MonitorScript()
        script.fix(at: 0, -100)
        #expect(script.move(to: -45, speed: 0.3, reported: 0.3).isEmpty)
        let entered = script.move(to: -20, speed: 0.3, reported: 0.3)
        #expect(entered.map(\.event) == [.enter])
        #expect(entered.allSatisfy { $0.distance >= 3.5 * $0.sigma })
        #expect(script.move(to: -68, speed: 0.3, reported: 0.3).isEmpty)
        let left = script.move(to: -90, speed: 0.3, reported: 0.3)
        #expect(left.map(\.event) == [.leave])
        #expect(left.allSatisfy { $0.distance <= -6 * $0.sigma })
    }

    @Test func `a missing fix leaves nothing, and a leave after a gap is estimated`() {
        var script = MonitorScript()
        script.fix(at: 0, 0)
        #expect(script.fix(at: 3_600, 0).isEmpty)
        let left = script.fix(at: 7_200, 500)
        #expect(left.map(\.event) == [.leave])
        #expect(left.map(\.estimated) == [true])
    }

    @Test func `a clock that goes back does not hold up a leave`() {
        var script = MonitorScript()
        script.fix(at: 10_000, 0)
        script.fix(at: 10_001, 60, speed: 0)
        #expect((1...40).flatMap { script.fix(at: Double($0), 100, speed: 0) }.map(\.event) == [.leave])
    }

    @Test func `an arrival during a gap is estimated`() {
        var script = MonitorScript()
        script.fix(at: 0, -2_000)
        let entered = script.fix(at: 600, 0)
        #expect(entered.map(\.event) == [.enter])
        #expect(entered.map(\.estimated) == [true])
        #expect(entered.map(\.initial) == [false])
    }

    @Test func `a fix that is less accurate than the diameter decides nothing`() {
        var script = MonitorScript([Trials.circle(20)])
        #expect(script.fix(at: 0, 0, accuracy: 41).isEmpty)
        #expect(script.fix(at: 1, 0, accuracy: 40).isEmpty)
        #expect(script.fix(at: 2, 0, accuracy: 10).map(\.event) == [.enter])
        #expect(script.fix(at: 100, 500, accuracy: 41).isEmpty)
        #expect(script.fix(at: 200, 900, accuracy: 10).map(\.event) == [.leave])
    }

    @Test(arguments: [0.1, nil])
    func `a jump to a wrong position and back does nothing`(speed: Double?) {
        var script = MonitorScript([Trials.circle(50), Trials.circle(50, at: GroundPoint(250, 0))])
        for second in 0..<240 {
            // 12 s of each minute 250 m away, at an accuracy of 1.9 m (Tracelet, issue 294).
            let isWrong = second % 60 >= 48
            let decisions = script.fix(at: Double(second), isWrong ? 250 : 0, accuracy: 1.9, speed: speed)
            #expect(decisions.map(\.event) == (second == 0 ? [.enter] : []))
        }
    }

    @Test func `a receiver that reports no speed while it moves is not believed`() {
        var script = MonitorScript([Trials.circle(20)])
        script.fix(at: 0, -150, speed: 0)
        #expect(script.move(to: 150, speed: 3, reported: 0).map(\.event) == [.enter, .leave])
    }

    @Test func `a way through a place between two fixes passes it`() throws {
        var script = MonitorScript([Trials.circle(30)])
        script.fix(at: 0, -400, speed: 30, course: 90)
        script.fix(at: 10, -100, speed: 30, course: 90)
        let decisions = script.fix(at: 20, 200, speed: 30, course: 90)
        let pass = try #require(decisions.first)
        #expect(decisions.map(\.event) == [.pass])
        #expect(abs(pass.timestamp.timeIntervalSince(MonitorScript.date(0)) - 12.33) < 0.05)
        #expect(abs(try #require(pass.end).timeIntervalSince(MonitorScript.date(0)) - 14.33) < 0.05)
        #expect(pass.estimated)
        #expect(abs(pass.distance - 30) < 1)
        #expect(script.fix(at: 30, 500, speed: 30, course: 90).isEmpty)
    }

    @Test func `a fix that is not clear on the way does not hide a pass`() {
        var script = MonitorScript([Trials.circle(30)])
        script.fix(at: 0, -330, speed: 30, course: 90)
        script.fix(at: 10, -30, speed: 30, course: 90)
        #expect(script.fix(at: 20, 270, speed: 30, course: 90).map(\.event) == [.pass])
    }

    @Test(arguments: [(61.0, 200.0), (1, 200), (10, -60)])
    func `a gap, an impossible speed or a way beside a place is no pass`(seconds: Double, end: Double) {
        var script = MonitorScript([Trials.circle(30)])
        script.fix(at: 0, -100, speed: 30, course: 90)
        #expect(script.fix(at: seconds, end, speed: 30, course: 90).isEmpty)
    }

    @Test func `a place with a course counts for machines on that course`() {
        var place = Trials.circle(30)
        place.course = 350
        place.tolerance = 45
        for (north, events) in [(1.0, [PlaceEventKind.enter, .leave]), (-1, [])] {
            var script = MonitorScript([place])
            script.fix(at: 0, 0, -200 * north)
            #expect(script.move(to: 0, 200 * north, speed: 5).map(\.event) == events)
        }
        var passing = MonitorScript([place])
        passing.fix(at: 0, 0, 200, speed: 30, course: 180)
        #expect(passing.fix(at: 12, 0, -200, speed: 30, course: 180).isEmpty)
    }

    @Test func `the decisions of a fix are in the order of the places' ids`() {
        var script = MonitorScript((0..<20).map { Trials.circle(30 + Double($0)) })
        #expect(script.fix(at: 0, 0).map(\.placeId) == Array(0..<20))
    }

    @Test func `a fix without an accuracy counts as accurate to 5 m`() {
        var script = MonitorScript([Trials.circle(20)])
        let first = script.fix(at: 0, 0, accuracy: nil)
        #expect(first.map(\.event) == [.enter])
        #expect(abs((first.first?.sigma ?? 0) - 3.5355) < 0.001)
    }

    @Test func `bad numbers and steps back in time are survived`() {
        var script = MonitorScript()
        script.fix(at: 0, -100)
        #expect(script.fix(at: 1, .nan).isEmpty)
        #expect(script.fix(at: 2, 1e300).isEmpty)
        #expect(script.fix(at: 3, -100, accuracy: .nan, speed: .nan, course: .infinity).isEmpty)
        #expect(script.fix(at: 4, -100, accuracy: -5, speed: -1, course: 400).isEmpty)
        #expect(script.fix(at: .infinity, -100).isEmpty)
        #expect(throws: Never.self) { try JSONEncoder().encode(script.monitor.state) }
        #expect(script.fix(at: -500, -100).isEmpty)
        #expect(script.fix(at: 5, -99, speed: 5).isEmpty)
        #expect(script.move(to: 0, speed: 5).map(\.event) == [.enter])
    }

    @Test func `a course or a tolerance out of range is refused`() {
        var place = Trials.circle(30)
        place.course = 361
        #expect(throws: ShapeError.course(361)) { try MonitoredPlace(id: 1, place) }
        #expect("\(ShapeError.course(361))" == "the course is 361.0; give degrees from 0 to 360")
        place.course = 90
        place.tolerance = -1
        #expect(throws: ShapeError.tolerance(-1)) { try MonitoredPlace(id: 1, place) }
        #expect("\(ShapeError.tolerance(-1))" == "the tolerance of the course is -1.0; give degrees from 0 to 180")
    }
}
