import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import Testing

@Suite struct PlaceRestartTests {
    @Test(arguments: [5.0, 100_000])
    func `a machine that is still inside after a restart does not enter again`(seconds: Double) throws {
        var script = MonitorScript()
        script.fix(at: 0, -200)
        #expect(script.move(to: 0, speed: 5).map(\.event) == [.enter])
        let visits = script.monitor.visits
        try script.restart(after: seconds)
        #expect(script.monitor.visits == visits)
        #expect(script.fix(at: 40 + seconds, 0).isEmpty)
        #expect(script.stay(30).isEmpty)
    }

    @Test func `a machine that left while the service was off leaves at an estimated time`() throws {
        var script = MonitorScript()
        script.fix(at: 0, 0)
        try script.restart(after: 3_600)
        script.fix(at: 3_600, 400)
        let left = script.move(to: 500, speed: 10)
        #expect(left.map(\.event) == [.leave])
        #expect(left.map(\.estimated) == [true])
    }

    @Test func `a machine that came while the service was off has entered before`() throws {
        var script = MonitorScript()
        script.fix(at: 0, -400)
        try script.restart(after: 3_600)
        let found = script.fix(at: 3_600, 0)
        #expect(found.map(\.event) == [.enter])
        #expect(found.map(\.initial) == [true])
    }

    @Test func `a machine that comes right after a short restart enters`() throws {
        var script = MonitorScript()
        script.fix(at: 0, -150)
        #expect(script.move(to: -60, speed: 10).isEmpty)
        try script.restart(after: 2)
        let decisions = script.move(to: 20, speed: 10)
        #expect(decisions.map(\.event) == [.enter])
        #expect(decisions.map(\.initial) == [false])
    }

    @Test func `a stay continues after a restart, and is reported once`() throws {
        var script = MonitorScript(watches: [.dwell(100), .dwell(600)])
        script.fix(at: 0, 0)
        #expect(script.monitor.deadlinePassed(at: MonitorScript.time(100)).count == 1)
        try script.restart(after: 300)
        #expect(script.monitor.nextDeadline == MonitorScript.time(600))
        #expect(script.monitor.deadlinePassed(at: MonitorScript.time(600)).map(\.watch) == [.dwell(600)])
    }

    @Test func `an announced approach is not repeated after a restart`() throws {
        var script = MonitorScript(watches: [.within(200)])
        script.fix(at: 0, -400)
        #expect(script.move(to: -200, speed: 10).map(\.event) == [.approach])
        try script.restart(after: 2)
        #expect(script.move(to: 0, speed: 10).map(\.event) == [.enter])
    }

    @Test func `the state of a monitor far from all places is small`() throws {
        var script = MonitorScript((0..<100).map { Trials.circle(30, at: GroundPoint(Double($0) * 200, 0)) })
        script.fix(at: 0, -5_000)
        #expect(try JSON.line(script.monitor.state).count < 300)
    }
}
