import BackgroundTasks
import BackgrounderAPI
import ChildProcesses
import FoundationEssentials
import Logging
import StateStore

/// The tasks' journal, backed by the store.
struct TaskStoreJournal: TaskJournal {
    let store: StateStore

    /// The name of the record that holds the random id of the instance.
    private static let instanceState = "tasks.instance"

    func saved(logger: Logger) throws -> SavedTasks {
        var records: [TaskRecord] = []
        for stored in try store.tasks() {
            do {
                records.append(try TaskRecord(stored))
            } catch {
                logger.error("Task \(stored.task.id): cannot read it from the database: \(error); skipping it")
            }
        }
        return SavedTasks(records: records, hooks: try store.taskHooks())
    }

    /// Returns the random id that distinguishes this service's tasks from those of others, creating it at the first start.
    func instance() async throws -> String {
        if let data = try store.state(Self.instanceState) { return String(decoding: data, as: UTF8.self) }
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        try await store.save(StateRecord(name: Self.instanceState, value: Data(name.utf8)), durable: true)
        return name
    }

    func add(_ record: TaskRecord) async throws -> Int { try await store.add(StoredTask(record)) }
    func save(_ records: [TaskRecord]) async throws { try await store.save(records.map { try StoredTask($0) }) }
    func remove(_ ids: [Int]) async throws { try await store.removeTasks(ids) }
    func add(_ hook: TaskHook) async throws { try await store.add(hook) }
    func removeHook(_ name: String) async throws { try await store.removeTaskHook(name) }
}

extension StoredTask {
    fileprivate init(_ record: TaskRecord) throws {
        self.init(
            task: record.task,
            directory: record.directory,
            environment: record.environment,
            budget: record.times.budget.nanoseconds,
            grace: record.times.grace.nanoseconds,
            used: record.used.nanoseconds,
            countingSince: record.countingSince?.nanoseconds,
            boot: record.boot,
            isEndRequested: record.isEndRequested,
            running: try record.running.map { try JSON.line($0) },
            position: record.position
        )
    }
}

extension TaskRecord {
    fileprivate init(_ stored: StoredTask) throws {
        self.init(
            task: stored.task,
            directory: stored.directory,
            environment: stored.environment,
            times: try TaskTimes(budget: .nanoseconds(stored.budget), grace: .nanoseconds(stored.grace)),
            used: .nanoseconds(stored.used),
            countingSince: stored.countingSince.map { .nanoseconds($0) },
            boot: stored.boot,
            running: try stored.running.map { try JSON.decode(RunningCommand.self, from: Data($0.utf8)) },
            isEndRequested: stored.isEndRequested,
            position: stored.position
        )
    }
}
