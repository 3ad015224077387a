package import FoundationEssentials

/// The health of the storage, and the points that wait or were lost.
package struct StorageHealth: Codable, Hashable, Sendable {
    /// `ok` without problems.
    package var state: StorageState
    /// The current problems, and past ones that were not acknowledged yet, oldest first.
    package var problems: [StorageProblem]
    /// Accepted points that wait in memory for the disk.
    package var waiting: Int
    /// How many points can wait; further ones displace the oldest.
    package var capacity: Int
    /// Seconds until the memory is full at the current rate; absent while nothing waits.
    package var lasts: Double?
    /// Accepted points that were displaced and are lost.
    package var dropped: Int

    /// Creates a health report.
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

/// The state of the storage.
package enum StorageState: String, Codable, Sendable {
    case ok
    /// The disk cannot be written at present.
    case failing
    /// Writing works, but data was lost or damaged; `doctor --acknowledge` ends the report.
    case damaged
}

/// A problem of the storage.
package struct StorageProblem: Codable, Hashable, Sendable {
    /// The kind of problem.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// No room, or no quota.
        case diskFull
        case readOnly
        /// The disk, or its file system, reports an error.
        case ioError
        /// Another failure of the database, such as a lock held by another program.
        case unwritable
        /// The database was found damaged while it was in use.
        case damaged
        /// A damaged database was set aside at a start.
        case setAside
        /// The database existed before, and is missing or empty.
        case missing

        /// Whether the problem ends by itself when the disk works again.
        package var isPresent: Bool {
            switch self {
            case .diskFull, .readOnly, .ioError, .unwritable: true
            case .damaged, .setAside, .missing: false
            }
        }
    }

    package var kind: Kind
    /// The problem in one line.
    package var message: String
    /// The remedy in one line.
    package var hint: String
    package var since: Date

    /// Creates a storage problem.
    package init(_ kind: Kind, _ message: String, hint: String, since: Date) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.since = since
    }
}
