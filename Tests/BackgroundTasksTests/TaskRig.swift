import BackgroundTasks
import BackgrounderAPI
import Foundation
import Logging
import Synchronization
import SystemSupport
import TestSupport

/// A scheduler with a journal in memory and real keepers, which records its changes.
final class TaskRig: Sendable {
    let scheduler: BackgroundTaskScheduler
    let journal: MemoryTaskJournal
    let log: LogLines
    let scratch: ScratchDirectory
    private let heard: Heard

    private final class Heard: Sendable {
        let changes = Mutex<[BackgroundTask]>([])
        let signal = Signal()
    }

    init(
        clock: (any Clock<Duration>)? = nil,
        now: @escaping @Sendable () -> Duration = { MonotonicTime.now.sinceStart },
        journal: MemoryTaskJournal = MemoryTaskJournal(),
        boot: String = "this boot",
        scratch: ScratchDirectory? = nil
    ) throws {
        let (heard, log, scratch) = (Heard(), LogLines(), try scratch ?? ScratchDirectory())
        (self.heard, self.log, self.scratch, self.journal) = (heard, log, scratch, journal)
        scheduler = BackgroundTaskScheduler(
            journal.saved,
            places: BackgroundTaskScheduler.Places(
                keeper: BuiltProducts.backgrounderd,
                folder: scratch.path,
                socketPrefix: scratch.file("task"),
                boot: boot,
                instance: "test\(UInt32.random(in: 0 ... .max))"
            ),
            journal: journal,
            clock: clock ?? ContinuousClock(),
            now: now,
            logger: Logger(label: "test") { _ in log }
        ) { task in
            heard.changes.withLock { $0.append(task) }
            heard.signal.post()
        }
    }

    convenience init(_ clock: VirtualClock, journal: MemoryTaskJournal = MemoryTaskJournal()) throws {
        try self.init(clock: clock, now: { clock.time }, journal: journal)
    }

    var changes: [BackgroundTask] { heard.changes.withLock { $0 } }

    /// Returns the task as soon as the scheduler reports it in `state`.
    @discardableResult
    func wait(for state: BackgroundTaskState, of id: Int) async throws -> BackgroundTask {
        try await heard.signal.wait(for: "task \(id) that is \(state.rawValue)") {
            changes.last { $0.id == id && $0.state == state }
        }
    }

    /// Begins a shell command as a task.
    func begin(
        _ script: String,
        budget: Double? = nil,
        grace: Double? = nil,
        strict: Bool = false,
        repeat isRepeated: Bool = false
    ) async throws -> BackgroundTask {
        try await scheduler.begin(
            TaskRequest(
                name: "test",
                command: ["/bin/sh", "-c", script],
                budget: budget,
                grace: grace,
                strict: strict,
                repeat: isRepeated
            )
        )
    }

    /// Begins a shell command as a task and returns when `script` has written a line to the pipe at the path it gets.
    func beginStanding(
        budget: Double? = nil,
        grace: Double? = nil,
        _ script: (_ pipe: String) -> String
    ) async throws -> BackgroundTask {
        let pipe = try NamedPipe(scratch.file("standing-\(UInt64.random(in: 0 ... .max))"))
        let task = try await begin(script(pipe.path), budget: budget, grace: grace)
        try await pipe.reader.wait(for: "command that is ready") { lines, _ in lines.first }
        return task
    }

    /// Returns when `look` returns `true` after a change of a task.
    func waitForChange(_ what: String, _ look: @Sendable () async -> Bool) async throws {
        try await heard.signal.wait(for: what) { await look() ? () : nil }
    }
}

/// A journal that outlives a scheduler.
final class MemoryTaskJournal: TaskJournal {
    private struct State {
        var records: [Int: TaskRecord] = [:]
        var hooks: [TaskHook] = []
        var lastID = 0
        var isFull = false
        var refusesSaves = false
        var repeating: [[Int]] = []

        /// Records the repeated tasks after a transaction.
        mutating func noteRepeating() {
            repeating.append(records.values.filter { $0.task.repeat }.map(\.task.id).sorted())
        }
    }

    private let state = Mutex(State())

    struct Full: Error {}

    /// Whether it refuses new tasks.
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// Whether it refuses changes of tasks.
    var refusesSaves: Bool {
        get { state.withLock { $0.refusesSaves } }
        set { state.withLock { $0.refusesSaves = newValue } }
    }

    /// The repeated tasks after each transaction, which a service would find if it was killed then.
    var repeating: [[Int]] { state.withLock { $0.repeating } }

    var saved: SavedTasks {
        state.withLock { SavedTasks(records: $0.records.values.sorted { $0.task.id < $1.task.id }, hooks: $0.hooks) }
    }

    func add(_ record: TaskRecord) async throws -> Int {
        try state.withLock { state in
            guard !state.isFull else { throw Full() }
            state.lastID += 1
            state.records[state.lastID] = record
            state.records[state.lastID]?.task.id = state.lastID
            state.noteRepeating()
            return state.lastID
        }
    }

    func save(_ records: [TaskRecord]) async throws {
        try state.withLock { state in
            guard !state.refusesSaves else { throw Full() }
            for record in records { state.records[record.task.id] = record }
            state.noteRepeating()
        }
    }

    func remove(_ ids: [Int]) async throws {
        state.withLock { state in for id in ids { state.records[id] = nil } }
    }

    func changeHooks(removing removed: [String], adding hooks: [TaskHook]) async throws {
        state.withLock { state in
            state.hooks.removeAll { removed.contains($0.name) }
            state.hooks += hooks
        }
    }
}
