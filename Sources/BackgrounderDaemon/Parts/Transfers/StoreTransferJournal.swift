import BackgroundTransfers
import BackgrounderAPI
import FoundationEssentials
import StateStore

/// The transfers' journal, backed by the store.
struct StoreTransferJournal: TransferJournal {
    let store: StateStore

    /// Returns the open transfers.
    ///
    /// - Throws: an error if one cannot be read.
    func open() throws -> [TransferRecord] {
        try store.openTransfers().map { transfer, detail in
            TransferRecord(transfer, try JSONDecoder().decode(TransferDetail.self, from: detail))
        }
    }

    func add(_ record: TransferRecord) async throws -> Int {
        try await store.add(record.transfer, detail: try JSONEncoder().encode(record.detail))
    }

    func save(_ record: TransferRecord, ended: Date?) async throws {
        if let ended {
            try await store.end(record.transfer, at: ended)
        } else {
            try await store.save(record.transfer, detail: try JSONEncoder().encode(record.detail))
        }
    }

    func transfers() async throws -> [Transfer] { try await store.transfers() }

    func transfer(_ id: Int) async throws -> Transfer? { try await store.transfer(id) }

    func removeEnded() async throws -> Int { try await store.removeEndedTransfers() }

    func sessions() async throws -> [SessionStatus] { try await store.transferSessions() }

    func events(of session: String) async throws -> [TransferEvent]? { try await store.transferEvents(of: session) }

    func acknowledge(_ session: String, through seq: Int, at: Date) async throws -> [TransferEvent]? {
        try await store.acknowledge(session, through: seq, at: at)
    }
}
