import BackgrounderAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import StateStore

/// The size of the file and its limit.
@Suite struct SizeTests {
    private static let year = Duration.seconds(365 * 86_400)
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func points(_ range: Range<Int>) -> [Location] {
        range.map { .sample($0, at: 1_763_708_149 + Double($0)) }
    }

    private func fileSize() throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: fixture.path)[.size] as? Int)
    }

    @Test func `the file shrinks when points are deleted`() async throws {
        let store = try fixture.open(retention: Self.year)
        try store.append(points(0..<100_000), from: .receiver, state: .sample, durable: true)
        try await store.database.releaseFreePages(keeping: 0)
        let full = try fileSize()
        let half = Date(timeIntervalSince1970: 1_763_708_149 + 50_000)
        let newest = try await store.newestPoint()
        let reply = try await store.deletePoints(since: nil, until: half, ofTrip: nil, upTo: newest, isTrial: false) {
            _ in []
        }
        #expect(reply?.points == 50_000)
        #expect(try fileSize() < full * 6 / 10)
        #expect(try store.newestLocations(100_000).count == 50_000)
        try store.close()
    }

    @Test func `above the maximum size the oldest points are deleted at any time, but never the newest 100`()
        async throws
    {
        let store = try fixture.open(retention: Self.year, maximumSize: 4 << 20)
        try store.append(points(0..<100_000), from: .receiver, state: .sample, durable: true)
        await store.retention.waitForPurge()
        let left = try store.newestLocations(100_000)
        #expect((1000..<60_000).contains(left.count))
        #expect(left == points(100_000 - left.count..<100_000))
        let purge = try #require(fixture.purged.first)
        #expect(purge.points == 100_000 - left.count)
        #expect(purge.description.contains("points to stay within store.maximumSize, from 2025-11-21T"))
        #expect(try fileSize() < 9 << 20)
        try store.close()

        let small = try StoreFixture()
        let tight = try small.open(retention: Self.year, maximumSize: 1)
        try tight.append(points(0..<300), from: .receiver, state: .sample, durable: true)
        await tight.retention.waitForPurge()
        #expect(try tight.newestLocations(1000) == points(200..<300))
        try tight.close()
    }

    @Test func `a file of a version that could not shrink is converted when opened`() async throws {
        let old = try fixture.open()
        try old.append(points(0..<1000), state: .sample, durable: true)
        try await old.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = NONE; VACUUM") }
        try old.close()
        let new = try fixture.open()
        #expect(try await new.database.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") } == 2)
        #expect(try new.newestLocations(2000).count == 1000)
        try new.close()
    }
}
