package import FoundationEssentials

/// Whether what the service must keep reaches the disk, and what waits or was lost while it does not.
package struct StorageHealth: Codable, Hashable, Sendable {
    /// `ok` exactly while there is no problem.
    package var state: StorageState
    /// What is wrong now, and what was found wrong and not acknowledged yet; oldest first.
    package var problems: [StorageProblem]
    /// Accepted points that wait in memory for the disk.
    package var waiting: Int
    /// How many points the memory holds; further ones push out the oldest.
    package var capacity: Int
    /// Seconds until the memory is full at the present pace; absent while nothing waits.
    package var lasts: Double?
    /// Accepted points that had no room in memory and are lost.
    package var dropped: Int

    package init(
        problems: [StorageProblem] = [],
        waiting: Int = 0,
        capacity: Int = 0,
        lasts: Double? = nil,
        dropped: Int = 0
    ) {
        self.problems = problems
        self.waiting = waiting
        self.capacity = capacity
        self.lasts = lasts
        self.dropped = dropped
        state =
            if problems.contains(where: { $0.kind.isPresent }) {
                .failing
            } else {
                problems.isEmpty ? .ok : .damaged
            }
    }
}

/// How storage is.
package enum StorageState: String, Codable, Sendable {
    case ok
    /// The disk takes nothing at present.
    case failing
    /// Writing works, and something was lost or damaged; `doctor --acknowledge` ends the report.
    case damaged
}

/// One thing that is wrong with the storage.
package struct StorageProblem: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// No room, or no quota.
        case diskFull
        case readOnly
        /// The disk, or its file system, reports an error.
        case ioError
        /// Another failure of the database, such as a lock held by another program.
        case unwritable
        /// Damage was met in the database while it was in use.
        case damaged
        /// A damaged database was set aside at a start.
        case setAside
        /// There was a database, and it is missing or empty.
        case missing

        /// Whether it ends by itself, once the disk works again.
        package var isPresent: Bool {
            switch self {
            case .diskFull, .readOnly, .ioError, .unwritable: true
            case .damaged, .setAside, .missing: false
            }
        }
    }

    package var kind: Kind
    /// What is wrong, one line.
    package var message: String
    /// What to do, one line.
    package var hint: String
    package var since: Date

    package init(_ kind: Kind, _ message: String, hint: String, since: Date) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.since = since
    }
}
