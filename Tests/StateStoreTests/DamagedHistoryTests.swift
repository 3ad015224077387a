import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// Reading a history that is partly damaged.
@Suite struct DamagedHistoryTests {
    private let fixture: StoreFixture
    private let points = (0..<5000).map { Location.sample($0) }

    init() throws {
        fixture = try StoreFixture()
    }

    /// Returns the whole history.
    private func history(_ store: StateStore) async throws -> [Location] {
        try await store.history(since: nil, until: nil).reduce(into: []) { $0 += $1 }
    }

    /// Fills the history, overwrites the pages that `query` names, and opens it again.
    private func damaged(
        _ query: String,
        points: [Location]? = nil,
        filledWith byte: (Int) -> UInt8 = { _ in 0xFF }
    ) async throws -> (store: StateStore, pages: Int) {
        let store = try fixture.open()
        let points = points ?? self.points
        let trip = TripRecord.sample(0..<points.count, newest: points.count - 1)
        try store.append(points, trips: [trip], state: .sample, durable: true)
        try store.close()
        let list = try await String(decoding: Tool.run("sqlite3", fixture.path, query), as: UTF8.self).split(
            separator: "\n"
        ).compactMap { Int($0) }
        try #require(!list.isEmpty)
        var bytes = try fixture.bytes()
        for page in list {
            for offset in (page - 1) * 4096..<page * 4096 { bytes[offset] = byte(offset) }
        }
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        return (try fixture.open(), list.count)
    }

    private static func leaves(of table: String, skipping: Int, count: Int = 1) -> String {
        """
        SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path LIMIT \(count) OFFSET \(skipping)
        """
    }

    @Test(arguments: [(10, 1), (10, 3), (0, 1)])
    func `a damaged page of points loses only its own points`(skipping: Int, count: Int) async throws {
        let (store, pages) = try await damaged(Self.leaves(of: "location", skipping: skipping, count: count))
        let found = try await history(store)
        let lost = points.count - found.count
        #expect((1...60 * pages).contains(lost), "\(lost) points of \(pages) pages")
        let kept = Set(found.map(\.timestamp))
        #expect(points.filter { kept.contains($0.timestamp) }.count == found.count)
        let starts = found.filter { $0.segmentStart == true }.map(\.timestamp)
        // The first point starts a segment, and so does the point after the gap, so that no line spans it. A lost first
        // page leaves neither.
        #expect(starts.count == (skipping == 0 ? 0 : 2), "\(starts)")
        let trip = try #require(try await store.history(ofTrip: 1, since: nil, until: nil))
        #expect(try await trip.reduce(0) { $0 + $1.count } == found.count)
        #expect(store.problems.map(\.kind) == [.damaged])
        try store.close()
    }

    @Test(arguments: ["internal", "root"])
    func `a damaged interior page loses no points`(kind: String) async throws {
        // The path of the root page is "/".
        let above = "pagetype = 'internal' AND path \(kind == "root" ? "=" : "<>") '/'"
        let (store, _) = try await damaged(
            "SELECT pageno FROM dbstat WHERE name = 'location' AND \(above) LIMIT 1",
            points: kind == "root" ? points : (0..<40_000).map { Location.sample($0) }
        )
        let found = try await history(store)
        #expect(found.count == (kind == "root" ? 5_000 : 40_000))
        // Each start reads the newest points, which are unreachable without the root.
        let isFoundAtStart = kind == "root"
        #expect(store.problems.map(\.kind) == [isFoundAtStart ? .setAside : .damaged])
        try store.close()

        // A start after the damage was found rebuilds the file completely.
        let again = try fixture.open()
        #expect((again.movedAside == nil) == isFoundAtStart)
        #expect(try await history(again) == found)
        try again.close()
    }

    @Test func `a damaged time index loses no points`() async throws {
        let (store, _) = try await damaged(Self.leaves(of: "locationTime", skipping: 3))
        #expect(try await history(store) == points)
        #expect(store.problems.map(\.kind) == [.damaged])
        try store.close()
    }

    @Test func `rows with invalid values are skipped`() async throws {
        let store = try fixture.open()
        try store.append(points, state: .sample, durable: true)
        try store.close()
        try await Tool.run(
            "sqlite3",
            fixture.path,
            """
            PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT', ')'), 'NOT NULL', '') WHERE name = 'location';
            """
        )
        try await Tool.run(
            "sqlite3",
            fixture.path,
            """
            PRAGMA ignore_check_constraints = ON;
            UPDATE location SET latitude = x'00' WHERE id = 100;
            UPDATE location SET longitude = 1e300 WHERE id = 101;
            UPDATE location SET mode = NULL WHERE id = 102;
            """
        )
        let again = try fixture.open()
        #expect(try await history(again).count == points.count - 3)
        #expect(again.problems.map(\.kind) == [.damaged])
        try again.close()
    }

    @Test func `segments that overlap in time are returned whole, ordered by their starts`() async throws {
        let store = try fixture.open()
        func segment(_ start: Double, _ count: Int) -> [Location] {
            (0..<count).map { index in
                var location = Location.sample(index, at: start + Double(index))
                location.segmentStart = index == 0 ? true : nil
                return location
            }
        }
        // The clock was set back by 1,000 s, and an import covers the same time again.
        let (first, second, file) = (segment(5000, 2500), segment(4000, 2500), segment(4500, 1500))
        try store.append(first, state: .sample, durable: true)
        try store.append(second, state: .sample, durable: true)
        _ = try await store.importPoints(file.map { $0.moved() }, trips: [], openPoints: 0, into: .init())
        #expect(try await history(store) == second + file.map { $0.moved() } + first)
        let range = store.history(
            since: Date(timeIntervalSince1970: 5100),
            until: Date(timeIntervalSince1970: 5200)
        )
        let found = try await range.reduce(into: []) { $0 += $1 }
        #expect(found.map(\.timestamp.timeIntervalSince1970).count == 300)
        #expect(
            found.map { $0.segmentStart }.filter { $0 == true }.count == 2,
            "each segment after the first is marked"
        )
        try store.close()
    }
}

extension Location {
    /// Returns the point at another place, so that an import treats it as a different point.
    fileprivate func moved() -> Location {
        var location = self
        location.longitude += 1
        return location
    }
}
