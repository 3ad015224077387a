import Glibc
import TestSupport
import Testing

@testable import BackgrounderDaemon

/// The notifications to systemd's watchdog.
@Suite struct HeartbeatTests {
    @Test func `each heartbeat follows a completed check, and a hanging check stops them`() async throws {
        let scratch = try ScratchDirectory()
        let socket = try NotifySocket(scratch.file("notify"))
        let clock = VirtualClock()
        let (calls, called) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let heartbeat = try #require(
            Heartbeat(
                environment: ["NOTIFY_SOCKET": scratch.file("notify"), "WATCHDOG_USEC": "20000000"],
                clock: clock
            ) {
                called.yield()
                for await _ in answers { return }
            }
        )
        let task = Task { await heartbeat.run() }
        defer { task.cancel() }
        var call = calls.makeAsyncIterator()
        await call.next()
        #expect(socket.messages.isEmpty)
        answer.yield()
        try await socket.wait(for: "WATCHDOG=1")
        try await clock.waitForSleeper(.seconds(10))
        clock.advance(by: .seconds(10))
        await call.next()
        // The check hangs for longer than systemd waits.
        clock.advance(by: .seconds(100))
        #expect(socket.messages == ["WATCHDOG=1"])
        answer.yield()
        try await socket.wait(for: "WATCHDOG=1", count: 2)
    }

    @Test(arguments: [
        [:], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "x"], ["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"],
    ])
    func `without a watchdog for this process there is no heartbeat`(environment: [String: String]) {
        #expect(Heartbeat(environment: environment, clock: VirtualClock()) {} == nil)
    }

    @Test func `a watchdog for this process gets a heartbeat`() {
        let environment = ["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "\(getpid())"]
        #expect(Heartbeat(environment: environment, clock: VirtualClock()) {} != nil)
    }
}
