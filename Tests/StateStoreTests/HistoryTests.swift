import BackgrounderAPI
import Foundation
import TestSupport
import Testing

@testable import StateStore

@Suite struct HistoryTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func pages(_ store: StateStore, since: Double? = nil, until: Double? = nil) async throws -> [[Location]] {
        let pages = store.history(
            since: since.map { Date(timeIntervalSince1970: $0) },
            until: until.map { Date(timeIntervalSince1970: $0) }
        )
        return try await pages.reduce(into: []) { $0.append($1) }
    }

    @Test func `points with equal times are returned once each, in the order of acceptance`() async throws {
        let store = try fixture.open()
        let points = (0..<3456).map { Location.sample($0, at: 100) }
        try store.append(points, state: .sample, durable: true)
        let pages = try await pages(store)
        #expect(pages.map(\.count) == [1000, 1000, 1000, 456])
        #expect(pages.flatMap(\.self) == points)
        try store.close()
    }

    @Test(arguments: [0, 1, 999, 1000, 1001, 2000])
    func `a history of any length is returned in full`(count: Int) async throws {
        let store = try fixture.open()
        let points = (0..<count).map { Location.sample($0) }
        try store.append(points, state: .sample, durable: true)
        #expect(try await pages(store).flatMap(\.self) == points)
        try store.close()
    }

    @Test func `a range includes its start and excludes its end, to the millisecond`() async throws {
        let store = try fixture.open()
        let times = [10, 10.001, 19.999, 20, 20.001]
        try store.append(times.enumerated().map { .sample($0, at: $1) }, state: .sample, durable: true)
        func found(_ since: Double?, _ until: Double?) async throws -> [Double] {
            try await pages(store, since: since, until: until).flatMap(\.self).map {
                ($0.timestamp.timeIntervalSince1970 * 1000).rounded() / 1000
            }
        }
        #expect(try await found(10, 20) == [10, 10.001, 19.999])
        #expect(try await found(10.001, 20.001) == [10.001, 19.999, 20])
        #expect(try await found(nil, 10) == [])
        #expect(try await found(20, nil) == [20, 20.001])
        #expect(try await found(nil, nil) == times)
        #expect(try await found(20, 10) == [])
        try store.close()
    }

    @Test func `the history is ordered by time, not by order of acceptance`() async throws {
        let store = try fixture.open()
        let points = [30, 10, 20, -5].enumerated().map { Location.sample($0, at: $1) }
        try store.append(points, state: .sample, durable: true)
        #expect(try await pages(store).flatMap(\.self).map(\.timestamp.timeIntervalSince1970) == [-5, 10, 20, 30])
        #expect(try store.newestLocations(10) == points)
        try store.close()
    }

    @Test func `a write between two pages does not disturb the reading`() async throws {
        let store = try fixture.open()
        try store.append((0..<1500).map { .sample($0) }, state: .sample, durable: true)
        var count = 0
        for try await page in store.history(since: nil, until: nil) {
            if count == 0 { try store.append([.sample(1500), .sample(-5)], state: .sample, durable: true) }
            count += page.count
        }
        #expect(count == 1501)
        try store.close()
    }
}
