package import BackgrounderAPI
package import FoundationEssentials

/// A transfer with all that a restart needs to go on with it.
package struct TransferRecord: Sendable {
    package var transfer: Transfer
    package var detail: TransferDetail

    package init(_ transfer: Transfer, _ detail: TransferDetail) {
        (self.transfer, self.detail) = (transfer, detail)
    }
}

/// What is kept of a transfer beside what is shown.
package struct TransferDetail: Codable, Hashable, Sendable {
    package var url: String
    /// The absolute path of the file with the credentials; it is read for each attempt.
    package var credentials: String?
    /// Who named ``url``; absent for the user.
    package var namer: URLNamer?
    /// In lower case.
    package var sha256: String?
    /// Bytes.
    package var sizeLimit: Int64
    package var exists: ExistingFile
    /// When it was begun or resumed.
    package var since: Date
    /// When a wait ends by itself.
    package var next: Date?
    /// Of the version that the bytes in the part are from.
    package var validator: EntityValidator?
    /// Whether the bytes in the part may be from more than one version.
    package var isUncertain = false
    /// What is known to be on the disk; the rest may be lost with the power.
    package var durable: Int64 = 0
    package var part: FileIdentity?
    /// Whether the part, which is whole, is being given its name, or has it; absent where not. Until then a file that has both its inode
    /// and the name is somebody else's: inodes are used again.
    package var isMoving: Bool?
    /// How often a file of unknown length ended without the digest that was given.
    package var cuts: Int?
    /// Of the boot in which the part was last written to.
    package var boot: String?
    /// How many connections there were.
    package var connections = 0
    /// The file that is sent, as it was at the beginning.
    package var source: FileVersion?
    /// The server may see by it that it has the file already.
    package var idempotencyKey: String?

    package init(url: String, sha256: String?, sizeLimit: Int64, exists: ExistingFile, since: Date) {
        (self.url, self.sha256, self.sizeLimit, self.exists, self.since) = (url, sha256, sizeLimit, exists, since)
    }
}

/// What tells one version of what a server has from another (RFC 9110, 8.8), strong enough for a range.
package enum EntityValidator: Codable, Hashable, Sendable {
    case etag(String)
    /// A `Last-Modified`, as it was sent.
    case modified(String)

    /// The value of `If-Range`.
    var ifRange: String {
        switch self {
        case .etag(let value), .modified(let value): value
        }
    }
}

/// A file, whatever its name is.
package struct FileIdentity: Codable, Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64
}

/// A file and its content, as far as that can be told from outside.
package struct FileVersion: Codable, Hashable, Sendable {
    package var identity: FileIdentity
    package var size: Int64
    /// Nanoseconds.
    package var modified: Int64
}

/// Where transfers are kept. All is stored when a call returns; none of the calls ends early because its task is cancelled.
package protocol TransferJournal: Sendable {
    /// Stores a new transfer, and gives it its id.
    func add(_ record: TransferRecord) async throws -> Int
    /// Stores a transfer as it is now.
    ///
    /// - Parameter ended: when it is over now; its event is stored along with it, or nothing is.
    func save(_ record: TransferRecord, ended: Date?) async throws
    /// Those that are open, and the newest of those that are over; by id.
    func transfers() async throws -> [Transfer]
    func transfer(_ id: Int) async throws -> Transfer?
    /// The events of a session that were not acknowledged, oldest first; `nil` where it never had a transfer.
    func events(of session: String) async throws -> [TransferEvent]?
    /// Takes the events up to `seq` away, and gives the others. Where those were the last ones, and nothing is open, the one that
    /// says so comes in their place.
    func acknowledge(_ session: String, through seq: Int, at: Date) async throws -> [TransferEvent]?
}
