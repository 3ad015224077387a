import BackgrounderAPI
import FoundationEssentials
import GRDB

extension StateStore {
    /// Clears the incidents: the reports of damaged and missing data.
    package func acknowledgeIncidents() async throws {
        monitor.acknowledge()
        try await save(StateRecord(name: Self.incidentState, value: Data("[]".utf8)), durable: true)
    }

    /// Saves the incidents in the database so that they survive a restart. A failed write is ignored: damage is found
    /// again.
    func saveIncidents() {
        let incidents = monitor.incidents
        Task { [self] in
            guard let value = try? JSON.encode(incidents) else { return }
            try? await database.write { try $0.save(StateRecord(name: Self.incidentState, value: Data(value))) }
        }
    }

    private static let incidentState = "storage.incidents"

    /// Returns the saved incidents that were not acknowledged and the `new` ones, which are saved too.
    static func incidents(
        _ database: DatabaseQueue,
        _ path: String,
        adding new: [StorageProblem]
    ) throws(StateStoreError) -> [StorageProblem] {
        do {
            let value = try database.read { database in
                try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = ?", arguments: [incidentState])
            }
            // Setting the database aside resolves the damage that was met in it.
            let known = (value.flatMap { try? JSON.decode([StorageProblem].self, from: $0) } ?? []).filter { problem in
                problem.kind != .damaged || new.isEmpty
            }
            guard !new.isEmpty else { return known }
            let all = known + new
            let record = StateRecord(name: incidentState, value: Data(try JSON.encode(all)))
            try database.write { try $0.save(record) }
            return all
        } catch {
            throw StateStoreError(opening: path, error)
        }
    }

    static func missing(_ path: String) -> StorageProblem {
        StorageProblem(
            .missing,
            "\(path) is missing or empty, but a database existed before; a new one was created",
            hint: "restore a copy if you have one, then run `backgrounder doctor --acknowledge`",
            since: Date()
        )
    }

    static func setAside(_ path: String, _ aside: String, _ salvage: Salvage) -> StorageProblem {
        StorageProblem(
            .setAside,
            "\(path) was damaged and was set aside as \(aside); \(salvage.summary)",
            hint: "check the disk and what is lost, then run `backgrounder doctor --acknowledge`; the old file is kept",
            since: Date()
        )
    }
}
