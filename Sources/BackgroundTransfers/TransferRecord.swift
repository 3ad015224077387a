package import BackgrounderAPI
package import FoundationEssentials
package import WebSupport

/// A transfer with everything that is needed to continue it after a restart.
package struct TransferRecord: Sendable {
    package var transfer: Transfer
    package var detail: TransferDetail

    /// Creates a record from its two parts.
    package init(_ transfer: Transfer, _ detail: TransferDetail) {
        (self.transfer, self.detail) = (transfer, detail)
    }
}

/// The stored state of a transfer that the API does not show.
package struct TransferDetail: Codable, Hashable, Sendable {
    /// The URL as requested.
    package var url: String
    /// The absolute path of the credentials file, which is read for each attempt.
    package var credentials: String?
    /// Where ``url`` came from; `nil` for the user.
    package var namer: URLNamer?
    /// The expected digest, in lower-case hexadecimal.
    package var sha256: String?
    /// The maximum size of the file, in bytes.
    package var sizeLimit: Int64
    package var exists: ExistingFile
    /// When the transfer was added or last resumed.
    package var since: Date
    /// When the current wait ends by itself.
    package var next: Date?
    /// Identifies the version that the bytes in the part file are from.
    package var validator: EntityValidator?
    /// Whether the bytes in the part file may be from more than one version.
    package var isUncertain = false
    /// The number of synced bytes; further ones may be lost in a power failure.
    package var durable: Int64 = 0
    /// The part file.
    package var part: FileIdentity?
    /// True if the complete part file is being renamed or already has its final name; otherwise `nil`.
    ///
    /// Without it, a file with that name and the same inode is not the part file, because inodes are reused.
    package var isMoving: Bool?
    /// How often a file of unknown length did not match its digest.
    package var cuts: Int?
    /// The id of the boot in which the part file was last opened for writing.
    package var boot: String?
    /// The number of attempts so far that could open their file.
    package var connections = 0
    /// The file of an upload, as it was when the transfer was added.
    package var source: FileVersion?
    /// The `Idempotency-Key` of an upload, by which the server can recognise a file that it already has.
    package var idempotencyKey: String?

    /// Creates the details of a new transfer.
    package init(url: String, sha256: String?, sizeLimit: Int64, exists: ExistingFile, since: Date) {
        (self.url, self.sha256, self.sizeLimit, self.exists, self.since) = (url, sha256, sizeLimit, exists, since)
    }
}

/// A strong validator, which identifies a version of a file on a server (RFC 9110, 8.8). Range requests need one.
package enum EntityValidator: Codable, Hashable, Sendable {
    case etag(String)
    /// The value of `Last-Modified`, verbatim.
    case modified(String)

    /// The value of `If-Range`.
    var ifRange: String {
        switch self {
        case .etag(let value), .modified(let value): value
        }
    }
}

/// The identity of a file, independent of its name.
package struct FileIdentity: Codable, Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
}

/// The identity and version of a file, as far as its attributes show.
package struct FileVersion: Codable, Hashable, Sendable {
    package var identity: FileIdentity
    package var size: Int64
    /// The modification time in nanoseconds since 1970.
    package var modified: Int64
}

/// The persistent storage of transfers.
///
/// Changes have been committed when a call returns. Cancelling the task does not interrupt a call.
package protocol TransferJournal: Sendable {
    /// Stores a new transfer and returns its id.
    func add(_ record: TransferRecord) async throws -> Int
    /// Stores the current state of a transfer.
    ///
    /// - Parameter ended: the time of its end, if it has ended. Its event is stored in the same transaction.
    func save(_ record: TransferRecord, ended: Date?) async throws
    /// Returns the open transfers and the newest ended ones, sorted by id.
    func transfers() async throws -> [Transfer]
    /// Returns the transfer `id`, which may have ended; `nil` if it is unknown.
    func transfer(_ id: Int) async throws -> Transfer?
    /// Removes the transfers that have ended, and returns their number. Their events stay.
    func removeEnded() async throws -> Int
    /// Returns the sessions that ever had a transfer, none of them as declared.
    func sessions() async throws -> [SessionStatus]
    /// Returns the unacknowledged events of a session, oldest first; `nil` if the session never had a transfer.
    func events(of session: String) async throws -> [TransferEvent]?
    /// Removes the events of a session up to and including `seq`, and returns the others; `nil` if the session never
    /// had a transfer.
    ///
    /// If none are left and no transfer of the session is open, adds the event `all-events-delivered`.
    func acknowledge(_ session: String, through seq: Int, at: Date) async throws -> [TransferEvent]?
}
