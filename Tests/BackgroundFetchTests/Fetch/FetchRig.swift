import BackgroundFetch
import BackgrounderAPI
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import WebSupport

/// A scheduler in virtual time with scripted sources.
final class FetchRig: Sendable {
    /// 2026-11-21T00:00:00Z.
    static let start = Date(timeIntervalSince1970: 1_795_219_200)

    let clock = VirtualClock()
    let origin = ScriptedOrigin()
    let journal: MemoryFetchJournal
    let scheduler: FetchScheduler
    let log = LogLines()
    let handedOver = Mutex<[[String]]>([])
    let namers = Mutex<[URLNamer]>([])
    private let ended = Mutex<[FetchRun]>([])
    private let signal = Signal()

    /// - Parameter jitter: the factor for each retry delay, in place of a random one.
    init(journal: MemoryFetchJournal = MemoryFetchJournal(), isDeclared: Bool = true, jitter: Double = 1) async throws {
        self.journal = journal
        let relay = Relay()
        let (clock, log) = (clock, log)
        scheduler = FetchScheduler(
            journal.saved,
            journal: journal,
            origin: origin,
            downloader: { _, urls, _, namer in relay.rig?.take(urls, namer) },
            clock: clock,
            now: { Self.start.addingTimeInterval(clock.now.offset / .seconds(1)) },
            zone: .fixed(0),
            jitter: { $0 * jitter },
            logger: Logger(label: "test") { _ in log },
            onEvent: { event in
                switch event {
                case .run(let run): if run.result != nil { relay.rig?.note(run) }
                case .changed: relay.rig?.signal.post()
                }
            }
        )
        relay.value.withLock { $0 = Weak(rig: self) }
        await scheduler.apply(isAnyoneAttached: false, isDeclared: isDeclared)
        try await scheduler.begin()
    }

    private struct Weak {
        weak var rig: FetchRig?
    }

    private final class Relay: Sendable {
        let value = Mutex<Weak>(Weak())
        var rig: FetchRig? { value.withLock { $0.rig } }
    }

    private func take(_ urls: [String], _ namer: URLNamer) {
        namers.withLock { $0.append(namer) }
        handedOver.withLock { $0.append(urls) }
        signal.post()
    }

    /// Returns when `count` enclosures were handed over.
    func wait(forEnclosures count: Int) async throws {
        _ = try await signal.wait(for: "\(count) enclosures") {
            handedOver.withLock { $0.joined().count } >= count ? true : nil
        }
    }

    private func note(_ run: FetchRun) {
        ended.withLock { $0.append(run) }
        signal.post()
    }

    func add(_ name: String, _ interval: FetchInterval = .never, host: String? = nil, budget: Double = 30) async throws
    {
        _ = try await scheduler.add(
            FetchDefinition(
                name: name,
                url: "http://\(host ?? name)/",
                kind: .raw,
                interval: interval,
                budget: budget
            )
        )
    }

    /// All completed runs, in the order of their ends.
    var runs: [FetchRun] { ended.withLock { $0 } }

    /// Returns when `count` runs are over.
    @discardableResult
    func wait(forRuns count: Int) async throws -> [FetchRun] {
        try await signal.wait(for: "\(count) runs") { runs.count >= count ? runs : nil }
    }

    /// Returns when the source `name` does not exist any longer.
    func wait(forRemovalOf name: String) async throws {
        _ = try await signal.wait(for: "removal of \(name)") {
            await scheduler.hasSource(name) ? nil : true
        }
    }

    /// Waits for a timer at `seconds` and advances the clock to it.
    func sleep(until seconds: Double) async throws {
        try await clock.wait(forTimerAt: seconds)
        clock.advance(to: seconds + 0.001)
    }

    func seconds(_ date: Date?) -> Double? { date.map { $0.timeIntervalSince(Self.start).rounded() } }
}

/// Replies with the script of each source, or with new bytes if it has none.
final class ScriptedOrigin: FetchOrigin {
    typealias Script = @Sendable () async throws(FetchFailure) -> FetchReply

    private struct State {
        var scripts: [String: Script] = [:]
        var asked: [(name: String, validators: FetchValidators?)] = []
        var open = 0
        var mostOpen = 0
    }

    private let state = Mutex(State())
    private let signal = Signal()

    func on(_ name: String, _ script: @escaping Script) {
        state.withLock { $0.scripts[name] = script }
    }

    var asked: [(name: String, validators: FetchValidators?)] { state.withLock { $0.asked } }
    var open: Int { state.withLock { $0.open } }
    var mostOpen: Int { state.withLock { $0.mostOpen } }

    func wait(forRequests count: Int) async throws {
        _ = try await signal.wait(for: "\(count) requests") { asked.count >= count ? true : nil }
    }

    func fetch(_ source: FetchDefinition, validators: FetchValidators?) async throws(FetchFailure) -> FetchReply {
        let (script, count) = state.withLock { state in
            state.asked.append((source.name, validators))
            state.open += 1
            state.mostOpen = max(state.mostOpen, state.open)
            return (state.scripts[source.name], state.asked.count)
        }
        signal.post()
        defer { state.withLock { $0.open -= 1 } }
        if let script { return try await script() }
        return FetchReply(.content(Data("\(count)".utf8), mediaType: nil), status: 200, bytes: 1)
    }
}

/// A journal in memory that returns what a restart would find.
final class MemoryFetchJournal: FetchJournal {
    fileprivate struct State {
        var saved = SavedFetchState()
        var seen: [String: Data] = [:]
        var failure: String?
        var open: [FetchRun] = []
        var contents: [String: FetchContent] = [:]
    }

    struct Full: Error, CustomStringConvertible {
        var description: String
    }

    private let state = Mutex(State())

    var saved: SavedFetchState {
        state.withLock { state in
            var saved = state.saved
            saved.openRuns = state.open
            return saved
        }
    }

    var contents: [String: FetchContent] { state.withLock { $0.contents } }

    /// Makes every later save fail with `reason`, or succeed again if it is `nil`.
    func refuse(_ reason: String?) {
        state.withLock { $0.failure = reason }
    }

    func seen(_ source: String) async throws -> Data? { state.withLock { $0.seen[source] } }

    func save(isOn: Bool) async throws { state.withLock { $0.saved.isOn = isOn } }

    func save(_ changes: [FetchChange]) async throws {
        try state.withLock { state in
            if let failure = state.failure { throw Full(description: failure) }
            for change in changes { try state.take(change) }
        }
    }
}

extension MemoryFetchJournal.State {
    fileprivate mutating func take(_ change: FetchChange) throws {
        func index(_ name: String) -> Int? { saved.sources.firstIndex { $0.definition.name == name } }
        switch change {
        case .added(let definition, let state, let isDeclared):
            let state = try JSON.decode(FetchSourceState.self, from: state)
            saved.sources.append(.init(definition: definition, state: state, isDeclared: isDeclared))
        case .changed(let definition, let isDeclared):
            guard let index = index(definition.name) else { return }
            saved.sources[index].definition = definition
            saved.sources[index].isDeclared = isDeclared
        case .removed(let name):
            saved.sources.removeAll { $0.definition.name == name }
            open.removeAll { $0.source == name }
        case .state(let name, let state, let unseen):
            guard let index = index(name) else { return }
            saved.sources[index].state = try JSON.decode(FetchSourceState.self, from: state)
            saved.sources[index].unseen = unseen
        case .began(let run):
            // As in the store, a source has at most one open run.
            guard !open.contains(where: { $0.source == run.source }) else {
                throw MemoryFetchJournal.Full(description: "\(run.source) has an open run")
            }
            saved.lastRun = run.id
            open.append(run)
        case .ended(let run): open.removeAll { $0.id == run.id }
        case .content(let name, let content, let seen):
            contents[name] = content
            self.seen[name] = seen
        case .cleared(let name):
            contents[name] = nil
            seen[name] = nil
        case .opened(let names, let open):
            for name in names {
                saved.opens[name, default: []].append(FetchOpen(at: open.at, secondsFromGMT: open.secondsFromGMT))
            }
        }
    }
}
