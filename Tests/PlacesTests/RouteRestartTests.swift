import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import Testing

@Suite struct RouteRestartTests {
    private let end = GroundPoint(2_000, 0)

    @Test func `a restart at any time changes no event`() throws {
        var undisturbed = try RouteScript(watches: [.eta(20), .within(100)])
        let expected = undisturbed.drive(end)
        for restart in stride(from: 50.0, to: 1_990, by: 35) {
            var script = try RouteScript(watches: [.eta(20), .within(100)])
            var events = script.drive(GroundPoint(restart, 0))
            try script.restart()
            events += script.drive(end)
            #expect(events == expected)
        }
    }

    @Test func `a restart at a stop repeats nothing`() throws {
        var script = try RouteScript(watches: [.eta(20)])
        _ = script.drive(GroundPoint(492, 0))
        _ = script.wait(20)
        let progress = script.monitor.progress
        try script.restart()
        #expect(script.monitor.progress == progress)
        script.pass(120)
        #expect(script.wait(20).isEmpty)
        #expect(script.drive(GroundPoint(550, 0)) == ["leave 1", "next 2"])
    }

    @Test func `a diversion continues after a restart`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(800, 0), GroundPoint(800, 400), GroundPoint(1_100, 400))
        #expect(script.monitor.progress.diverted)
        try script.restart()
        #expect(script.monitor.progress.diverted)
        let events = script.drive(GroundPoint(1_200, 400), GroundPoint(1_200, 0), GroundPoint(1_300, 0))
        #expect(events == ["diversionEnd", "skip 2", "next 3"])
    }

    @Test func `a run that finished does not finish again`() throws {
        var script = try RouteScript()
        #expect(script.drive(end).last == "finish 4")
        try script.restart()
        #expect(script.wait(60).isEmpty)
        #expect(script.monitor.progress.isFinished)
    }

    @Test func `a run is over after a restart that took more than 30 minutes`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        try script.restart()
        script.pass(1_801)
        #expect(script.wait(1).isEmpty)
        #expect(script.monitor.progress.next == nil)
    }

    @Test func `the state of another route is dropped`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        let longer = RouteScript.definition(([GroundPoint(0, 0), GroundPoint(2_001, 0)], RouteScript.street.stops))
        let monitor = RouteMonitor(route: try FollowedRoute(longer), state: script.monitor.state)
        #expect(monitor.progress.next == nil)
        #expect(monitor.state.hashValue == RouteMonitor(route: monitor.route).state.hashValue)
    }

    @Test(arguments: [("\"next\":2", "\"next\":5"), ("\"next\":2", "\"next\":-1"), ("\"way\":0", "\"way\":-1")])
    func `a state that does not fit the route is dropped`(part: String, damage: String) throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(700, 0))
        let json = String(decoding: try JSONEncoder().encode(script.monitor.state), as: UTF8.self)
        try #require(json.contains(part))
        let damaged = json.replacingOccurrences(of: part, with: damage)
        let state = try JSONDecoder().decode(RouteMonitor.State.self, from: Data(damaged.utf8))
        #expect(RouteMonitor(route: script.route, state: script.monitor.state).progress.next == 2)
        #expect(RouteMonitor(route: script.route, state: state).progress.next == nil)
    }

    @Test func `the state is small`() throws {
        var script = try RouteScript(watches: [.eta(20)])
        _ = script.drive(GroundPoint(1_700, 0))
        #expect(try JSON.line(script.monitor.state).count < 600)
    }
}
