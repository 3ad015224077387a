import BackgrounderAPI
import FoundationEssentials
import SystemSupport
import Testing

@testable import BackgrounderCommands

/// Tasks, fetches and transfers in the live view, in its plain lines and in `status`.
@Suite struct BackgroundViewTests {
    private static let now = Date(timeIntervalSince1970: 1_763_708_149)  // 2025-11-21T06:55:49Z
    private static let instant = SuspendingClock.now

    private static func task(_ id: Int, _ state: BackgroundTaskState = .running, remaining: Double? = nil)
        -> BackgroundTask
    {
        BackgroundTask(
            id: id,
            name: "build \u{1B}[2J日本",
            command: ["make"],
            state: state,
            budget: 180,
            grace: 5,
            remaining: remaining,
            strict: remaining != nil
        )
    }

    private static func source(_ name: String, unseen: Int = 0, failures: Int = 0, next: Double? = nil) -> FetchSource {
        FetchSource(
            name: name,
            kind: .feed,
            interval: .minimum,
            next: next.map { now.addingTimeInterval($0) },
            failures: failures,
            unseen: unseen
        )
    }

    private static func transfer(_ id: Int, _ state: TransferState, received: Int64 = 0, total: Int64? = nil)
        -> Transfer
    {
        Transfer(
            id: id,
            session: "s",
            direction: .get,
            url: "https://a.example/x",
            destination: "/srv/photos/a photo\u{7}.jpg",
            state: state,
            waitingFor: state == .waiting ? .network : nil,
            received: received,
            total: total,
            error: state == .failed ? "404 Not\nFound" : nil
        )
    }

    private static func state(
        tasks: [BackgroundTask]? = nil,
        fetch: [FetchSource]? = nil,
        transfers: [Transfer]? = nil,
        publishers: [PublisherStatus]? = nil
    ) -> LiveState {
        let status = ServiceStatus(
            version: "0.1.0",
            pid: 7,
            state: .active,
            since: now,
            attached: 1,
            modes: [],
            tasks: tasks,
            fetch: fetch,
            transfers: transfers,
            publishers: publishers
        )
        var state = LiveState()
        state.apply(.state(StateSnapshot(status: status, track: [], queue: [])), at: instant)
        return state
    }

    private static func lines(_ state: LiveState, after seconds: Double = 0, columns: Int = 100, rows: Int = 30)
        -> [String]
    {
        let later = instant.advanced(by: .milliseconds(Int64(seconds * 1000)))
        return LiveScreen(
            state: state,
            view: ViewState(),
            columns: columns,
            rows: rows,
            charset: .unicode,
            now: now,
            instant: later
        ).lines()
    }

    @Test func `a panel shows the state of each task, source and transfer`() {
        let state = Self.state(
            tasks: [Self.task(1), Self.task(2, remaining: 150.5)],
            fetch: [
                Self.source("news", unseen: 3, next: 600), Self.source("weather", failures: 2, next: 86_400),
                Self.source("tides"),
            ],
            transfers: [
                Self.transfer(12, .running, received: 1_200_000, total: 4_800_000),
                Self.transfer(13, .waiting, received: 999),
            ]
        )
        let lines = Self.lines(state)
        let text = lines.joined(separator: "\n")
        #expect(text.contains("1 build \u{FFFD}[2J日本            running, unlimited │"))
        #expect(text.contains("running, 2:30 left"))
        #expect(text.contains("3 new, next 07:05 │"))
        #expect(text.contains("failed 2 times, next 11-22 06:55 │"))
        #expect(text.contains("not scheduled │"))
        #expect(text.contains("12 ↓ a photo\u{FFFD}.jpg "))
        #expect(text.contains("running, 1.2 MB of 4.8 MB │"))
        #expect(text.contains("━━━━━━━━━━━━────────────"))
        #expect(text.contains("waiting for the network, 999 bytes │"))
        #expect(lines.count == 30)
    }

    @Test func `publishers are above the transfers, with backlog, rate and the reason for waiting`() {
        let office = PublisherStatus(
            name: "office",
            url: "mqtt://b:1",
            machine: "m",
            topic: "t",
            state: .waiting,
            why: "cannot reach the broker",
            backlog: 900,
            rate: 48.3
        )
        let state = Self.state(transfers: [Self.transfer(13, .waiting, received: 999)], publishers: [office])
        let lines = Self.lines(state)
        let text = lines.joined(separator: "\n")
        #expect(text.contains(" Publishers, transfers "))
        #expect(text.contains("office"))
        #expect(text.contains("waiting, backlog 900, 48 points/s: cannot reach the broker │"))
        #expect(text.contains("waiting for the network, 999 bytes │"))
        #expect(lines.count == 30)
    }

    @Test func `a budget counts down between events, and the view is redrawn only while one does`() {
        var state = Self.state(tasks: [Self.task(2, remaining: 150.5)])
        #expect(state.isCounting)
        #expect(Self.lines(state, after: 61).joined().contains("running, 1:29 left"))
        #expect(Self.lines(state, after: 1000).joined().contains("running, 0:00 left"))
        state.apply(.task(Self.task(2, .expiring, remaining: 5)), at: Self.instant.advanced(by: .seconds(145)))
        #expect(Self.lines(state, after: 147).joined().contains("expiring, 0:03 left"))
        state.apply(.task(Self.task(2, .expired)), at: Self.instant)
        #expect(!state.isCounting)
        #expect(!Self.state(tasks: [Self.task(1)]).isCounting)
        #expect(Self.lines(state).joined().contains(" expired │"), "an ended task stays visible")
    }

    @Test func `events update tasks, sources and transfers immediately`() {
        var state = Self.state(fetch: [Self.source("news", failures: 1)])
        state.apply(.task(Self.task(1)))
        state.apply(.task(Self.task(2)))
        state.apply(.task(Self.task(1, .finished)))
        #expect(state.status?.tasks?.map(\.id) == [2])
        #expect(state.endedTasks.map(\.id) == [1])
        var run = FetchRun(id: 5, source: "news", trigger: .due, began: Self.now)
        state.apply(.fetch(run))
        #expect(state.status?.fetch?[0].pending?.id == 5)
        #expect(Self.lines(state).joined().contains("fetching, not scheduled"))
        run.result = .newData
        state.apply(.fetch(run))
        #expect(state.status?.fetch?[0].pending == nil)
        #expect(state.status?.fetch?[0].failures == 0)
        #expect(Self.lines(state).joined().contains("new data, not scheduled"))
        run.result = .failed
        state.apply(.fetch(run))
        #expect(state.status?.fetch?[0].failures == 1)
        for id in 1...5 { state.apply(.transfer(Self.transfer(id, .running))) }
        for id in 1...4 { state.apply(.transfer(Self.transfer(id, .done, received: 5_000_000, total: 5_000_000))) }
        state.apply(.transfer(Self.transfer(5, .running, received: 1, total: 2)))
        #expect(state.status?.transfers?.map(\.id) == [5])
        #expect(state.endedTransfers.map(\.id) == [2, 3, 4])
        #expect(Self.lines(state).joined().contains("done, 5.0 MB"))
        state.apply(.transfer(Self.transfer(9, .failed)))
        #expect(Self.lines(state).joined().contains("failed: 404 Not\u{FFFD}Found"))
        state.apply(.alert(PushAlert(source: "news", id: "a", text: "Storm\u{1B}[2J")))
        #expect(Self.lines(state).last?.hasPrefix("news: Storm\u{FFFD}[2J  ") == true)
        state.apply(.fetch(FetchRun(id: 1, source: "unknown", trigger: .due, began: Self.now, result: .noData)))
    }

    @Test func `no terminal size is too small, and no line is wider than the terminal`() {
        let long = Self.source(String(repeating: "日本👩‍👩‍👧", count: 40), unseen: 9_999_999, next: 1)
        let state = Self.state(
            tasks: (1...40).map { Self.task($0, remaining: 100) },
            fetch: Array(repeating: long, count: 30),
            transfers: (1...30).map { Self.transfer($0, .running, received: .max, total: .max) }
        )
        for columns in [1, 5, 12, 13, 29, 40, 80, 211] {
            for rows in [1, 5, 13, 14, 15, 17, 24, 25, 60] {
                let lines = Self.lines(state, columns: columns, rows: rows)
                #expect(
                    lines.count <= rows,
                    "\(columns) × \(rows)"
                )
                #expect(
                    lines.allSatisfy { $0.terminalColumns <= columns },
                    "\(columns) × \(rows)"
                )
                #expect(lines.joined().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            }
        }
        let lines = Self.lines(state, columns: 80, rows: 24).joined(separator: "\n")
        #expect(lines.contains("┌ Transfers ─"))
        #expect(lines.contains("and 35 more"))
        #expect(lines.contains("┌ Audio"))
    }

    @Test func `the status shows a few lines of each kind and says how many more there are`() throws {
        let status = try #require(
            Self.state(
                tasks: [Self.task(1), Self.task(2, remaining: 90)],
                fetch: (1...7).map { Self.source("s\($0)", unseen: $0) },
                transfers: [Self.transfer(12, .running, received: 1, total: 3)]
            ).status
        )
        #expect(
            status.backgroundLines(now: Self.now) == [
                "tasks     1 build \u{1B}[2J日本: running, unlimited",
                "          2 build \u{1B}[2J日本: running, 1:30 left (50 %)",
                "fetch     s1: 1 new, not scheduled", "          s2: 2 new, not scheduled",
                "          s3: 3 new, not scheduled", "          s4: 4 new, not scheduled",
                "          and 3 more: `backgrounder fetch list`",
                "transfers 12 ↓ a photo\u{7}.jpg: running, 1 byte of 3 bytes (33 %)",
            ]
        )
        #expect(!status.summary().contains("\u{1B}"))
        #expect(status.summary().contains("and 3 more"))
        #expect(Self.state().status?.backgroundLines(now: Self.now) == [])
    }

    @Test func `the doctor reports undeclared modes, failing sources and transfers without disk space`() throws {
        var status = try #require(
            Self.state(fetch: [Self.source("news", failures: 3)], transfers: [Self.transfer(1, .waiting)]).status
        )
        #expect(status.backgroundChecks(pushes: []).map(\.ok) == [false, false, true])
        status.modes = [.fetch]
        status.fetch?[0].failures = 2
        status.transfers?[0].waitingFor = .disk
        #expect(status.backgroundChecks(pushes: []).map(\.ok) == [true, true, false])
        #expect(
            status.backgroundChecks(pushes: [])[0].message == "1 source, 1 fetched automatically; fetch is in modes"
        )
        #expect(status.backgroundChecks(pushes: [])[2].hint?.contains("\u{7}") == false)
        var push = PushStatus(name: "p", url: "mqtt://a.example", topic: "t", state: .connected)
        #expect(
            status.backgroundChecks(pushes: [push]).last?.message == "p connected; remote-notification is not in modes"
        )
        status.modes = [.fetch, .remoteNotification]
        #expect(status.backgroundChecks(pushes: [push]).last?.ok == true)
        push.state = .refused
        #expect(status.backgroundChecks(pushes: [push]).last?.ok == false)
        #expect(try #require(Self.state().status).backgroundChecks(pushes: []).isEmpty)
    }
}
