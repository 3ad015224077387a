import BackgrounderAPI
import Foundation
import GRDB
import Synchronization
import TestSupport

@testable import StateStore

/// A store in a temporary folder, with access to its files.
struct StoreFixture {
    let scratch: ScratchDirectory
    /// The storage problems that were reported.
    let syncFailures = Failures()
    private let purges = Purges()

    /// The purges of this fixture's stores, oldest first.
    var purged: [Purge] { purges.withLock { $0 } }

    init() throws {
        scratch = try ScratchDirectory()
    }

    var path: String { scratch.file("backgrounder.sqlite") }

    /// - Parameter systemTime: The time of a synchronised system clock; by default the clock is not synchronised.
    func open(
        syncInterval: Duration = .milliseconds(20),
        retention: Duration = .seconds(86_400),
        maximumSize: Int? = nil,
        systemTime: @escaping @Sendable () -> Date? = { nil }
    ) throws -> StateStore {
        try StateStore(
            path: path,
            syncInterval: syncInterval,
            retention: retention,
            maximumSize: maximumSize,
            clock: TrustedClock(synchronised: systemTime)
        ) { [syncFailures, purges] event in
            switch event {
            case .health(let problems): for problem in problems { syncFailures.add(problem.message) }
            case .purged(let purge): purges.withLock { $0.append(purge) }
            }
        }
    }

    /// The bytes of the file.
    func bytes() throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// The names of the files in the folder.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
    }
}

private final class Purges: Sendable {
    private let list = Mutex<[Purge]>([])

    func withLock<Value: Sendable>(_ body: (inout sending [Purge]) -> sending Value) -> Value { list.withLock(body) }
}

/// The errors that a store reported.
final class Failures: Sendable {
    private let errors = Mutex<[String]>([])
    let signal = Signal()

    var all: [String] { errors.withLock { $0 } }

    func add(_ error: String) {
        errors.withLock { $0.append(error) }
        signal.post()
    }
}

extension Location {
    /// Returns the `index`th point of a walk to the north with one point a second.
    static func sample(_ index: Int, at seconds: Double? = nil) -> Location {
        Location(
            latitude: Double(index % 100_000) * 0.0001,
            longitude: -122.03350886,
            altitude: index.isMultiple(of: 2) ? 12.5 : nil,
            horizontalAccuracy: 5,
            accuracySource: .receiver,
            speed: 0,
            course: 255.94,
            timestamp: Date(timeIntervalSince1970: seconds ?? Double(1_763_708_149_786 + index * 1000) / 1000),
            segmentStart: index == 0 ? true : nil
        )
    }
}

extension StateRecord {
    static let sample = StateRecord(name: "location", value: Data("{}".utf8))
}
