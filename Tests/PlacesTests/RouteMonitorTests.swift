import BackgrounderAPI
import Foundation
import Places
import PlacesSimulation
import Testing

@Suite struct RouteMonitorTests {
    private let end = GroundPoint(2_000, 0)

    @Test func `a run has its events in order, each once`() throws {
        var script = try RouteScript(watches: [.eta(20)])
        #expect(script.wait(60).isEmpty)
        #expect(
            script.drive(end) == [
                "join", "next 1", "approach 1", "arrive 1", "leave 1", "next 2", "approach 2", "arrive 2", "leave 2",
                "next 3", "approach 3", "arrive 3", "leave 3", "next 4", "approach 4", "arrive 4", "finish 4",
            ]
        )
        #expect(script.wait(60).isEmpty)
    }

    @Test func `an approach is announced the wanted time before the arrival`() throws {
        var script = try RouteScript(watches: [.eta(20)])
        let decisions = script.line(to: GroundPoint(600, 0))
        let approach = try #require(decisions.first { $0.kind == .approach && $0.stop == 1 })
        let arrival = try #require(decisions.first { $0.kind == .arrive && $0.stop == 1 })
        #expect(approach.watch == .eta(20))
        #expect(abs(arrival.timestamp.timeIntervalSince(approach.timestamp) - 20) <= 1.5)
        #expect(abs(try #require(approach.eta) - 20) <= 1)
        #expect(abs(try #require(arrival.distance) - 10) <= 5)
        #expect(arrival.eta == nil)
    }

    @Test func `an approach by distance is announced once at that distance along the shape`() throws {
        let line = (
            shape: [GroundPoint(0, 0), GroundPoint(500, 0), GroundPoint(500, 100), GroundPoint(0, 100)],
            stops: [GroundPoint(10, 0), GroundPoint(100, 100)]
        )
        var script = try RouteScript(line, watches: [.within(300), .within(300), .within(100)])
        let first = script.line(to: line.shape[1]) + script.line(to: line.shape[2])
        #expect(first.filter { $0.stop == 1 && $0.kind == .approach }.isEmpty)
        let decisions = script.line(to: GroundPoint(100, 100))
        let approaches = decisions.filter { $0.kind == .approach }
        #expect(approaches.map(\.watch) == [.within(300), .within(100)])
        #expect(abs(try #require(approaches.first?.distance) - 295) <= 6)
    }

    @Test func `a watch of less than the arrival distance fires at the arrival`() throws {
        var script = try RouteScript(watches: [.within(1), .eta(0)])
        _ = script.drive(GroundPoint(100, 0))
        #expect(script.drive(GroundPoint(490, 0)) == ["approach 1", "approach 1", "arrive 1"])
    }

    @Test func `watches that are not valid and dwell are ignored`() throws {
        var script = try RouteScript(watches: [.within(.nan), .eta(-1), .eta(.infinity), .dwell(5)])
        #expect(!script.drive(end).contains { $0.hasPrefix("approach") })
    }

    @Test func `new watches count from then on, and old ones do not fire again`() throws {
        var script = try RouteScript(watches: [.within(300)])
        _ = script.drive(GroundPoint(100, 0))
        #expect(script.drive(GroundPoint(300, 0)) == ["approach 1"])
        script.monitor.setWatches([.within(300), .within(400), .within(100)])
        #expect(script.drive(GroundPoint(420, 0)) == ["approach 1", "approach 1"])
    }

    @Test func `waiting at a stop and in a jam repeats nothing`() throws {
        var script = try RouteScript(watches: [.eta(20), .within(200)])
        _ = script.drive(GroundPoint(100, 0))
        #expect(script.drive(GroundPoint(350, 0)) == ["approach 1", "approach 1"])
        for east in stride(from: 360.0, through: 470, by: 10) {
            #expect(script.wait(20).isEmpty)
            #expect(script.drive(GroundPoint(east, 0), speed: 2).isEmpty)
        }
        #expect(script.drive(GroundPoint(495, 0)) == ["arrive 1"])
        #expect(script.wait(600).isEmpty)
        #expect(script.drive(GroundPoint(520, 0), speed: 5) == ["leave 1", "next 2"])
    }

    @Test func `a standing machine leaves a stop only if it is clearly past it`() throws {
        var script = try RouteScript()
        _ = script.drive(GroundPoint(495, 0))
        _ = script.wait(15)
        for second in 0..<66 {
            script.pass(1)
            #expect(script.fix(GroundPoint(495 + 0.5 * Double(second), 0)).isEmpty)
        }
    }

    @Test func `progress tells the state of each stop`() throws {
        var script = try RouteScript(watches: [.within(200)])
        #expect(script.monitor.progress.progress == nil)
        #expect(script.monitor.progress.next == nil)
        #expect(script.monitor.progress.states == Array(repeating: .ahead, count: 5))
        _ = script.drive(GroundPoint(400, 0))
        #expect(script.monitor.progress.states == [.left, .approaching, .ahead, .ahead, .ahead])
        #expect(script.monitor.progress.next == 1)
        #expect(abs(try #require(script.monitor.progress.progress) - 400) <= 1)
        _ = script.drive(GroundPoint(490, 0))
        #expect(script.monitor.progress.states == [.left, .at, .ahead, .ahead, .ahead])
        #expect(!script.monitor.progress.isFinished)
        _ = script.drive(end)
        #expect(script.monitor.progress.states == [.left, .left, .left, .left, .at])
        #expect(script.monitor.progress.next == nil)
        #expect(script.monitor.progress.isFinished)
        #expect(script.monitor.route.stops.map(\.name) == ["S0", "S1", "S2", "S3", "S4"])
    }

    @Test func `a loop visits a stop twice`() throws {
        let square = [
            GroundPoint(0, 0), GroundPoint(300, 0), GroundPoint(300, 300), GroundPoint(0, 300), GroundPoint(0, 0),
        ]
        let line = (
            shape: square + [GroundPoint(300, 0), GroundPoint(600, 0)],
            stops: [
                GroundPoint(10, 0), GroundPoint(150, 0), GroundPoint(150, 300), GroundPoint(150, 0),
                GroundPoint(590, 0),
            ]
        )
        var script = try RouteScript(line)
        let events = script.drive(square[1], square[2], square[3], square[4], GroundPoint(600, 0))
        #expect(events.filter { $0.hasPrefix("arrive") } == ["arrive 1", "arrive 2", "arrive 3", "arrive 4"])
        #expect(events.filter { $0.hasPrefix("leave") } == ["leave 1", "leave 2", "leave 3"])
        #expect(events.last == "finish 4")
    }

    @Test func `a street out and back passes its stops once in each direction`() throws {
        let line = (
            shape: [GroundPoint(0, 0), GroundPoint(600, 0), GroundPoint(0, 0)],
            stops: [
                GroundPoint(10, -4), GroundPoint(300, -4), GroundPoint(590, 0), GroundPoint(300, 4), GroundPoint(10, 4),
            ]
        )
        var script = try RouteScript(line)
        let there = script.drive(GroundPoint(597, 0))
        #expect(there.filter { $0.hasPrefix("arrive") } == ["arrive 1", "arrive 2"])
        #expect(script.wait(120).isEmpty)
        let back = script.drive(GroundPoint(0, 0))
        #expect(back.filter { $0.hasPrefix("arrive") } == ["arrive 3", "arrive 4"])
        #expect(back.last == "finish 4")
    }

    @Test func `a machine that starts in the middle joins there`() throws {
        var script = try RouteScript(from: GroundPoint(1_100, 0))
        #expect(script.drive(end) == ["join", "next 3", "arrive 3", "leave 3", "next 4", "arrive 4", "finish 4"])
        #expect(script.monitor.progress.states == [.left, .left, .left, .left, .at])
    }

    @Test func `a machine on a street that the route passes twice joins once it is clear where`() throws {
        let square = [
            GroundPoint(0, 0), GroundPoint(300, 0), GroundPoint(300, 300), GroundPoint(0, 300), GroundPoint(0, 0),
        ]
        let line = (
            shape: square + [GroundPoint(600, 0)],
            stops: [GroundPoint(10, 0), GroundPoint(300, 250), GroundPoint(590, 0)]
        )
        var script = try RouteScript(line, from: GroundPoint(120, 0))
        #expect(script.drive(GroundPoint(300, 0)).isEmpty)
        #expect(script.drive(GroundPoint(300, 150)) == ["join", "next 1"])
        var late = try RouteScript(line, from: GroundPoint(120, 0))
        #expect(late.drive(GroundPoint(400, 0)) == ["join", "next 2"])
    }

    @Test func `a machine against the direction of the route does not join`() throws {
        var script = try RouteScript(from: GroundPoint(2_000, 0))
        #expect(script.drive(GroundPoint(0, 0)).isEmpty)
        #expect(script.monitor.progress.progress == nil)
    }

    @Test func `a machine that crosses the route or stands on it does not join`() throws {
        var script = try RouteScript(from: GroundPoint(700, -500))
        #expect(script.drive(GroundPoint(700, 500)).isEmpty)
        #expect(script.drive(GroundPoint(1_200, -300), GroundPoint(1_200, 0)).isEmpty)
        #expect(script.wait(600).isEmpty)
    }

    @Test func `a run can be repeated`() throws {
        var script = try RouteScript()
        let first = script.drive(end)
        // Back on the same street.
        #expect(script.drive(GroundPoint(0, 0)).isEmpty)
        #expect(script.drive(end) == first)
        #expect(first.last == "finish 4")
    }
}
