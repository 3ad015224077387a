import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import SystemSupport
import Testing

@Suite struct PlaceWatchTests {
    @Test func `an approach is announced once, the wanted time before the boundary`() throws {
        var script = MonitorScript(watches: [.eta(20)])
        script.fix(at: 0, -600)
        let decisions = script.move(to: 0, speed: 10)
        #expect(decisions.map(\.event) == [.approach, .enter])
        let approach = try #require(decisions.first)
        #expect(approach.watch == .eta(20))
        #expect(abs(approach.timestamp.timeIntervalSince(MonitorScript.date(35))) <= 1)
        #expect(abs(try #require(approach.eta) - 19.5) < 0.5)
    }

    @Test func `an approach by distance is announced at that distance`() throws {
        var script = MonitorScript(watches: [.within(300), .within(100)])
        script.fix(at: 0, -600)
        let decisions = script.move(to: -60, speed: 10)
        #expect(decisions.map(\.watch) == [.within(300), .within(100)])
        #expect(abs(try #require(decisions.first).distance + 295) < 5)
    }

    @Test func `a machine that passes beside or moves away does not approach`() {
        var beside = MonitorScript(watches: [.eta(20), .within(200)])
        beside.fix(at: 0, 0, 220)
        #expect(beside.move(to: 400, 260, speed: 10).isEmpty)
        var standing = MonitorScript(watches: [.eta(20), .within(200)])
        standing.fix(at: 0, -150)
        #expect(standing.stay(120).isEmpty)
    }

    @Test func `a slow machine approaches by distance once it has come nearer`() {
        var script = MonitorScript(watches: [.within(100)])
        script.fix(at: 0, -180)
        let decisions = script.move(to: -120, speed: 0.4, reported: 0.4)
        #expect(decisions.map(\.event) == [.approach])
    }

    @Test func `a machine on the wrong course does not approach`() {
        var place = Trials.circle(50)
        place.course = 270
        var script = MonitorScript([place], watches: [.eta(20), .within(200)])
        script.fix(at: 0, -600)
        #expect(script.move(to: 600, speed: 10).isEmpty)
    }

    @Test func `an approach can be repeated after a visit, and after the machine was far away`() {
        var script = MonitorScript(watches: [.within(100)])
        script.fix(at: 0, -600)
        #expect(script.move(to: -100, speed: 10).map(\.event) == [.approach])
        #expect(script.move(to: -180, speed: 10).isEmpty)
        #expect(script.move(to: -100, speed: 10).isEmpty)
        #expect(script.move(to: -600, speed: 10).isEmpty)
        #expect(script.move(to: 0, speed: 10).map(\.event) == [.approach, .enter])
        #expect(script.move(to: 120, speed: 10).map(\.event) == [.leave])
        #expect(script.move(to: 0, speed: 10).map(\.event) == [.approach, .enter])
    }

    @Test func `a stay is reported at its deadline without a fix`() throws {
        var script = MonitorScript(watches: [.dwell(120), .dwell(30)])
        script.fix(at: 0, 0)
        #expect(script.monitor.nextDeadline == MonitorScript.time(30))
        #expect(script.monitor.deadlinePassed(at: MonitorScript.time(29)).isEmpty)
        let first = script.monitor.deadlinePassed(at: MonitorScript.time(30))
        #expect(first.map(\.event) == [.dwell])
        #expect(first.map(\.watch) == [.dwell(30)])
        #expect(first.map(\.timestamp) == [MonitorScript.date(30)])
        #expect(first.map(\.initial) == [true])
        #expect(script.monitor.nextDeadline == MonitorScript.time(120))
        #expect(script.monitor.deadlinePassed(at: MonitorScript.time(500)).map(\.watch) == [.dwell(120)])
        #expect(script.monitor.nextDeadline == nil)
    }

    @Test func `a fix reports the stays that are due`() {
        var script = MonitorScript(watches: [.dwell(30)])
        script.fix(at: 0, 0)
        #expect(script.fix(at: 45, 0).map(\.event) == [.dwell])
        #expect(script.fix(at: 46, 0).isEmpty)
    }

    @Test func `fixes outside hold a stay back, and a leave ends it`() {
        var script = MonitorScript(watches: [.dwell(30)])
        script.fix(at: 0, 0)
        script.fix(at: 20, 60, speed: 0)
        #expect(script.monitor.nextDeadline == nil)
        #expect(script.monitor.deadlinePassed(at: MonitorScript.time(40)).isEmpty)
        #expect(script.fix(at: 50, 0, speed: 0).map(\.event) == [.dwell])
        var leaving = MonitorScript(watches: [.dwell(300)])
        leaving.fix(at: 0, 0)
        #expect(leaving.move(to: 200, speed: 5).map(\.event) == [.leave])
        #expect(leaving.monitor.nextDeadline == nil)
    }

    @Test func `watches that are negative or not finite are ignored`() {
        var script = MonitorScript(watches: [.dwell(-1), .eta(.nan), .within(.infinity)])
        script.fix(at: 0, -500)
        #expect(script.move(to: 0, speed: 5).map(\.event) == [.enter])
        #expect(script.monitor.nextDeadline == nil)
    }
}
