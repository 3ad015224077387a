import BackgrounderAPI
import FoundationEssentials
import Synchronization

/// The newest points in memory, so that publishers that keep up with them do not read them from the database again.
///
/// All changes are on the database's queue, in the order of the commits.
final class LatestPoints: Sendable {
    /// The generation of the next points.
    private enum Generation {
        case unknown, absent
        case named(String)
    }

    private struct State {
        var generation = Generation.unknown
        /// With consecutive ids.
        var points: [PublishedPoint] = []
        var deletions = 0
    }

    // Tuned: more than a publisher gathers at 100 points a second.
    private static let most = 64

    private let state = Mutex(State())

    /// Adds points that were committed, with ids from `first`. Without a generation, nothing is kept.
    ///
    /// - Parameters:
    ///   - recorded: when they were stored; `nil` for their own times.
    ///   - findGeneration: finds the name of their generation, which later points have too, until ``forget()``.
    func add(_ locations: [Location], from first: Int64, recorded: Date?, findGeneration: () throws -> String?) {
        // The next point may begin a generation.
        guard !locations.isEmpty else { return }
        state.withLock { state in
            if case .unknown = state.generation {
                do { state.generation = try findGeneration().map { .named($0) } ?? .absent } catch { return }
            }
            guard case .named(let generation) = state.generation else { return }
            if state.points.last.map({ $0.id + 1 != first }) == true { state.points = [] }
            for (index, location) in locations.enumerated().suffix(Self.most) {
                let point = PublishedPoint(
                    id: first + Int64(index),
                    generation: generation,
                    recorded: (recorded ?? location.timestamp).stored,
                    location: location.stored
                )
                state.points.append(point)
            }
            state.points.removeFirst(max(0, state.points.count - Self.most))
        }
    }

    /// Forgets the points and their generation, because a transaction deletes or replaces some of them.
    func forget() { state.withLock { $0 = State(deletions: $0.deletions + 1) } }

    /// How often points were forgotten. Any thread.
    var deletions: Int { state.withLock(\.deletions) }

    /// Returns the first `limit` points after the one with this id; `nil` if only the database has them. Any thread.
    func points(after id: Int64, limit: Int) -> [PublishedPoint]? {
        state.withLock { state in
            guard let first = state.points.first?.id, first <= id + 1 else { return nil }
            return Array(state.points.dropFirst(Int(id + 1 - first)).prefix(limit))
        }
    }
}

extension Date {
    /// The time as the database returns it.
    fileprivate var stored: Date { Date(milliseconds: milliseconds) }
}

extension Location {
    /// The point as a publisher reads it from the database.
    fileprivate var stored: Location {
        var location = self
        location.accuracySource = nil
        location.timestamp = timestamp.stored
        location.segmentStart = segmentStart == true ? true : nil
        return location
    }
}
