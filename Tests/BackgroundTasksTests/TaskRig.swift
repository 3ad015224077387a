import BackgroundTasks
import BackgrounderAPI
import ChildProcesses
import Foundation
import Logging
import Synchronization
import TestSupport

/// A scheduler with a journal in memory and ears for its changes; its keepers are the real program.
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
        now: @escaping @Sendable () -> Duration = monotonicTime,
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

    /// What the scheduler says of the task as soon as it is in `state`.
    @discardableResult
    func wait(for state: BackgroundTaskState, of id: Int) async throws -> BackgroundTask {
        try await heard.signal.wait(for: "task \(id) that is \(state.rawValue)") {
            changes.last { $0.id == id && $0.state == state }
        }
    }

    /// A shell command that begins as a task.
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

    /// A shell command that begins as a task, once it stands: when `script`, which gets the path of a pipe, wrote a line there.
    func beginStanding(
        budget: Double? = nil,
        grace: Double? = nil,
        _ script: (_ pipe: String) -> String
    ) async throws -> BackgroundTask {
        let pipe = try NamedPipe(scratch.file("standing-\(UInt64.random(in: 0 ... .max))"))
        let task = try await begin(script(pipe.path), budget: budget, grace: grace)
        try await pipe.reader.wait(for: "command that stands") { lines, _ in lines.first }
        return task
    }

    /// Returns when `look` finds what it looks for after a change of a task.
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
        var repeating: [[Int]] = []

        /// After each transaction.
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

    /// Which tasks were to be repeated after each transaction so far: what a service finds that was killed then.
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
        state.withLock { state in
            for record in records { state.records[record.task.id] = record }
            state.noteRepeating()
        }
    }

    func remove(_ ids: [Int]) async throws {
        state.withLock { state in for id in ids { state.records[id] = nil } }
    }

    func add(_ hook: TaskHook) async throws { state.withLock { $0.hooks.append(hook) } }
    func removeHook(_ name: String) async throws { state.withLock { $0.hooks.removeAll { $0.name == name } } }
}
