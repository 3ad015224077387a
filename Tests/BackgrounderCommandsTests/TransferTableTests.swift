import BackgrounderAPI
import Foundation
import Testing

@testable import BackgrounderCommands

@Suite struct TransferTableTests {
    private func transfer(
        _ state: TransferState,
        waitingFor: TransferWait? = nil,
        rate: Double? = nil,
        remaining: Double? = nil,
        next: Date? = nil,
        error: String? = nil
    ) -> Transfer {
        Transfer(
            id: 7,
            session: "maps",
            direction: .get,
            url: "https://a.example/x",
            destination: "/srv/x",
            state: state,
            waitingFor: waitingFor,
            received: 500_000,
            total: 1_000_000,
            rate: rate,
            remaining: remaining,
            next: next,
            error: error
        )
    }

    @Test func `a running transfer shows its rate and the time left`() {
        let running = transfer(.running, rate: 12_345.6, remaining: 40.5)
        let table = transferTable([running])
        #expect(table.contains(" 12.3 kB/s  0:40 "), "\(table)")
        #expect(running.progressLine.hasSuffix(" 50% of 1.0 MB, 12.3 kB/s, 0:40 left"), "\(running.progressLine)")
    }

    @Test(
        arguments: [
            (TransferWait.network, "waiting for the network"), (.power, "waiting for power"),
            (.disk, "waiting for disk space"), (.backoff, "waiting for the next attempt"),
            (.limiter, "waiting until the machine is less busy"),
        ]
    )
    func `a waiting transfer says in words what it waits for, and when it is tried again`(
        wait: TransferWait,
        words: String
    ) {
        let next = Date(timeIntervalSince1970: 60)
        let waiting = transfer(.waiting, waitingFor: wait, next: next, error: "the connection stalled")
        let table = transferTable([waiting])
        #expect(table.contains(" \(words)  "), "\(table)")
        #expect(table.contains("  1970-01-01T00:01:00.000Z  maps"), "\(table)")
        #expect(table.hasSuffix("\n7: the connection stalled"), "\(table)")
        #expect(waiting.progressLine.contains(", \(words) (the connection stalled)"), "\(waiting.progressLine)")
        #expect(Glance(waiting).state.hasPrefix("\(words), 500.0 kB"), "\(Glance(waiting))")
    }
}

@Suite struct FetchTableTests {
    @Test func `the list of sources ends with the reasons why sources fail`() {
        let table = FetchTable.sources([
            FetchSource(name: "a", kind: .feed, url: "https://h/"),
            FetchSource(name: "b", kind: .feed, url: "https://h/", failures: 3, lastError: "no\u{7} host"),
            FetchSource(name: "c", kind: .feed, url: "https://h/", failures: 1, lastError: "denied (401)"),
            FetchSource(name: "d", kind: .feed, url: "https://h/", lastError: "no route"),
        ])
        let lines = table.split(separator: "\n").dropFirst(5)
        #expect(
            Array(lines) == [
                "b: failed 3 times in a row: no\u{FFFD} host", "c: failed: denied (401)", "d: failed: no route",
            ]
        )
    }
}
