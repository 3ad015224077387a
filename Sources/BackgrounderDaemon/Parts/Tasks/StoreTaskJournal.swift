import BackgroundTasks
import BackgrounderAPI
import FoundationEssentials
import Logging
import StateStore

/// The tasks' journal, backed by the store.
struct StoreTaskJournal: TaskJournal {
    let store: StateStore

    /// The name of the record that holds the random id of the instance.
    private static let instanceState = "tasks.instance"

    /// Returns the tasks and hooks that a scheduler continues with. A task that cannot be read is left out, which is logged.
    func saved(logger: Logger) throws -> SavedTasks {
        let records = try store.tasks { id, error in
            logger.error("Task \(id): cannot read it from the database: \(error); skipping it")
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

    func add(_ record: TaskRecord) async throws -> Int { try await store.add(record) }
    func save(_ records: [TaskRecord]) async throws { try await store.save(records) }
    func remove(_ ids: [Int]) async throws { try await store.removeTasks(ids) }
    func changeHooks(removing removed: [String], adding hooks: [TaskHook]) async throws {
        try await store.changeTaskHooks(removing: removed, adding: hooks)
    }
}
