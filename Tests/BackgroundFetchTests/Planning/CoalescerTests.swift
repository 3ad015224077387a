import BackgroundFetch
import Foundation
import Testing

@Suite struct CoalescerTests {
    private let now = Date(timeIntervalSince1970: 1_767_571_200)

    private func run(_ name: String, host: String?, _ earliest: Double, _ deadline: Double) -> WaitingRun {
        let window = FlexWindow(earliest: now.addingTimeInterval(earliest), deadline: now.addingTimeInterval(deadline))
        return WaitingRun(source: name, host: host, window: window)
    }

    @Test func `no run starts before its window opens, and the first deadline sets the wakeup`() {
        let waiting = [run("a", host: "a", 10, 100), run("b", host: "b", 50, 60), run("c", host: "c", 61, 200)]
        let wakeup = Coalescer.nextWakeup(waiting, from: now)
        #expect(wakeup == now.addingTimeInterval(60))
        #expect(Coalescer.nextRide(waiting) == now.addingTimeInterval(10))
        #expect(Coalescer.runs(waiting, at: now.addingTimeInterval(60)).map(\.source) == ["b", "a"])
        #expect(Coalescer.runs(waiting, at: now).isEmpty)
        #expect(Coalescer.nextWakeup([], from: now) == nil)
        // An overdue run causes an immediate wakeup.
        #expect(Coalescer.nextWakeup([run("a", host: "a", -100, -50)], from: now) == now)
    }

    @Test func `at most four runs are open, one per host, and commands have no host`() {
        let waiting = [
            run("a", host: "x", 0, 1), run("b", host: "x", 0, 2), run("c", host: nil, 0, 3), run("d", host: nil, 0, 4),
            run("e", host: "y", 0, 5), run("f", host: "z", 0, 6),
        ]
        #expect(Coalescer.runs(waiting, at: now).map(\.source) == ["a", "c", "d", "e"])
        #expect(Coalescer.runs(waiting, at: now, running: ["x", nil, nil]).map(\.source) == ["c"])
        #expect(Coalescer.runs(waiting, at: now, running: ["x", nil, nil, "y", "z"]).isEmpty)
    }

    @Test func `a window is a fifth of the interval, at least a minute, and starts when the server allows`() {
        #expect(FlexWindow(after: now, interval: 3600).deadline == now.addingTimeInterval(4320))
        #expect(FlexWindow(after: now, interval: 60).deadline == now.addingTimeInterval(120))
        let late = FlexWindow(after: now, interval: 60, floor: now.addingTimeInterval(1000), nextOpen: now)
        #expect(late.earliest == now.addingTimeInterval(1000))
        #expect(late.deadline == late.earliest)
        let planned = FlexWindow(endingAt: now, duration: 20, notBefore: now.addingTimeInterval(-100))
        #expect(planned.deadline == now.addingTimeInterval(-20))
        #expect(planned.earliest == now.addingTimeInterval(-100))
    }

    @Test func `sources that would never meet at their deadlines are brought together`() {
        func window(_ minutes: Double, began: Double) -> WaitingRun {
            let window = FlexWindow(after: now.addingTimeInterval(began * 60), interval: minutes * 60)
            return WaitingRun(source: "\(minutes)", host: nil, window: window, interval: minutes * 60)
        }
        // Every 18 and every 36 minutes, 10 apart: at their deadlines they would never meet.
        var waiting = [window(15, began: -8), window(30, began: 0)]
        var (time, wakeups) = (now, 0)
        while let next = Coalescer.nextWakeup(waiting, from: time), next < now.addingTimeInterval(86_400) {
            time = next
            wakeups += 1
            for index in waiting.indices where waiting[index].window.isOpen(at: time) {
                waiting[index].window = FlexWindow(after: time, interval: waiting[index].interval ?? 0)
            }
        }
        #expect(wakeups <= 83, "\(wakeups)")
    }
}
