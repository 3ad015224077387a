import BackgrounderAPI
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import StateStore

/// Deleting points by age, and keeping them when the clock is wrong.
@Suite struct RetentionTests {
    private let fixture: StoreFixture
    private static let day = 86_400.0
    /// The time of ``Location/sample(_:at:)`` 0.
    private static let start = 1_763_708_149.0

    init() throws {
        fixture = try StoreFixture()
    }

    private func points(_ range: Range<Int>, every seconds: Double = 1) -> [Location] {
        range.map { .sample($0, at: Self.start + Double($0) * seconds) }
    }

    private func at(days: Double) -> @Sendable () -> Date? {
        { Date(timeIntervalSince1970: Self.start + days * Self.day) }
    }

    @Test func `nothing is deleted while no clock is trusted`() async throws {
        let store = try fixture.open(retention: .zero)
        try store.append(points(0..<300), state: .sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000).count == 300)
        #expect(fixture.purged.isEmpty)
        try store.close()
    }

    @Test func `points of a receiver expire by their own GPS time`() async throws {
        // The system clock is not trusted: it may have been years behind when these points were recorded.
        let store = try fixture.open(retention: .seconds(10 * Self.day))
        try store.append(points(0..<150), from: .receiver, state: .sample, durable: true)
        let later = (0..<120).map { Location.sample($0, at: Self.start + 20 * Self.day + Double($0)) }
        try store.append(later, from: .receiver, state: .sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000).count == 270, "the purge of this hour came before the later points")
        try store.close()
        // The next purge is due an hour later, even after a restart; this clock is past that.
        let again = try fixture.open(retention: .seconds(10 * Self.day), systemTime: at(days: 20.1))
        try await again.save(.sample, durable: true)
        await again.retention.waitForPurge()
        #expect(try again.newestLocations(1000) == later)
        #expect(fixture.purged.map(\.points) == [150])
        #expect(fixture.purged.first?.range?.lowerBound == points(0..<1)[0].timestamp)
        #expect(
            fixture.purged.first?.description.contains("Deleted 150 points older than store.retention, from 2025-")
                == true
        )
        try again.close()
    }

    @Test func `replayed points expire by the time of their replay, not by their own times`() async throws {
        let now = Mutex(Date())
        let store = try fixture.open(retention: .seconds(365 * Self.day), systemTime: { now.withLock { $0 } })
        let old = (0..<300).map { Location.sample($0, at: 1_419_221_113 + Double($0)) }
        try store.append(old, from: .file, state: .sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000).count == 300)
        try store.close()
    }

    @Test func `the earlier of two trusted clocks decides`() async throws {
        let store = try fixture.open(retention: .seconds(Self.day), systemTime: at(days: 400))
        try store.append(points(0..<1), from: .receiver, state: .sample, durable: false)
        try store.append(points(1..<300), from: .receiver, state: .sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(1000).count == 300)
        try store.close()
    }

    @Test func `one purge deletes the oldest day's worth of points`() async throws {
        let recording = try fixture.open(retention: .seconds(365 * Self.day))
        // A point every 10 minutes for 10 days.
        try recording.append(points(0..<1440, every: 600), from: .receiver, state: .sample, durable: true)
        try recording.close()
        for (hour, left) in [(0.0, 1296), (0.5, 1296), (1.01, 1152), (2.02, 1008)] {
            let store = try fixture.open(
                retention: .seconds(Self.day),
                systemTime: at(days: 100 + hour / 24)
            )
            try await store.save(.sample, durable: true)
            await store.retention.waitForPurge()
            #expect(try store.newestLocations(2000).count == left, "after \(hour) hours")
            try store.close()
        }
        #expect(fixture.purged.map(\.points) == [144, 144, 144])
    }

    @Test func `recorded and imported points share the one-day limit of a purge, oldest first`() async throws {
        let recording = try fixture.open(retention: .seconds(365 * Self.day))
        try recording.append(points(0..<1440, every: 600), from: .receiver, state: .sample, durable: true)
        // Imported points are as old as their import, which is today.
        _ = try await recording.importPoints(points(5000..<5300), trips: [], openPoints: 0, into: .init())
        try recording.close()
        let store = try fixture.open(retention: .seconds(Self.day), systemTime: at(days: 7000))
        try await store.save(.sample, durable: true)
        await store.retention.waitForPurge()
        #expect(fixture.purged.map(\.points) == [144])
        #expect(try store.newestLocations(2000).count == 1296)
        try store.close()
    }

    @Test func `a clock that was far ahead at the last purge does not delay the next`() async throws {
        let ahead = try fixture.open(retention: .seconds(365 * Self.day), systemTime: at(days: 7000))
        try await ahead.save(.sample, durable: true)
        await ahead.retention.waitForPurge()
        try ahead.close()
        let store = try fixture.open(retention: .seconds(Self.day), systemTime: at(days: 100))
        try store.append(points(0..<300), from: .receiver, state: .sample, durable: false)
        try store.close()
        let again = try fixture.open(retention: .seconds(Self.day), systemTime: at(days: 100))
        try await again.save(.sample, durable: true)
        await again.retention.waitForPurge()
        #expect(try again.newestLocations(1000).count == 100)
        try again.close()
    }

    @Test func `points from the future neither expire nor protect older ones`() async throws {
        let recording = try fixture.open(retention: .seconds(365 * Self.day))
        let future = (0..<4100).map { Location.sample($0, at: 3_900_000_000 + Double($0)) }
        try recording.append(future, from: .receiver, state: .sample, durable: false)
        try recording.append(points(0..<300), from: .receiver, state: .sample, durable: false)
        try recording.close()
        let store = try fixture.open(retention: .seconds(Self.day), systemTime: at(days: 100))
        try await store.save(.sample, durable: true)
        await store.retention.waitForPurge()
        #expect(try store.newestLocations(10_000).count == 4200)
        #expect(fixture.purged.map(\.points) == [200])
        try store.close()
    }
}
