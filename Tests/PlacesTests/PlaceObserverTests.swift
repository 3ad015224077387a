import BackgrounderAPI
import Foundation
import Logging
import Places
import Synchronization
import SystemSupport
import TestSupport
import Testing

/// The observer and a journal that can fail.
@Suite final class PlaceObserverTests: Sendable {
    private final class Journal: PlaceJournal {
        struct Full: Error {}

        let name = Mutex("Pier")
        let isFull = Mutex(false)
        let isUnreadable = Mutex(false)

        func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace] {
            if isUnreadable.withLock(\.self) { throw Full() }
            return [IndexedPlace(id: 7, bounds: GeographicBounds(around: PlaceObserverTests.center, within: 50))]
        }

        func places(_ ids: [Int64]) throws -> [Place] {
            let shape = PlaceShape.circle(center: PlaceObserverTests.center, radius: 50)
            let definition = PlaceDefinition(name: name.withLock(\.self), shape: shape)
            return ids.contains(7) ? [Place(id: 7, definition: definition)] : []
        }

        func commit(_ events: [PlaceEvent], _ state: PlaceMonitor.State) throws -> [PlaceEvent] {
            if isFull.withLock(\.self) { throw Full() }
            return events
        }
    }

    private static let center = Coordinate(latitude: 48, longitude: 11)

    private let journal = Journal()
    private let heard = Mutex<[PlaceEvent]>([])
    private let signal = Signal()

    /// Fixes from west to east through the place, 5 m/s, the seconds of `range`.
    private func fixes(_ range: Range<Int>) -> [PlaceFix] {
        range.map { second in
            PlaceFix(
                timestamp: Date(timeIntervalSince1970: 1_795_000_000 + Double(second)),
                arrival: MonotonicTime(seconds: 1000 + Double(second)),
                coordinate: Coordinate(latitude: 48, longitude: 11 + (Double(second) * 5 - 200) / 74_600),
                accuracy: 5,
                speed: 5,
                course: 90
            )
        }
    }

    /// Runs an observer while `body` runs.
    private func observing(
        _ log: LogLines = LogLines(),
        _ body: (PlaceObserver) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in log }
        let observer = PlaceObserver(nil, journal: journal, logger: logger) { [self] events in
            heard.withLock { $0 += events }
            signal.post()
        }
        let run = Task { try await observer.run() }
        try await body(observer)
        run.cancel()
        try await run.value
    }

    private func events(_ count: Int) async throws -> [PlaceEvent] {
        try await signal.wait(for: "\(count) events", within: 60) {
            let events = heard.withLock(\.self)
            return events.count >= count ? events : nil
        }
    }

    @Test func `events wait while the journal fails, and are published when it works again`() async throws {
        let log = LogLines()
        try await observing(log) { observer in
            journal.isFull.withLock { $0 = true }
            observer.observe(fixes(0..<40))
            try await log.wait(for: 1, with: "Cannot store the events at places; up to 1000 wait in memory")
            #expect(await observer.visits().keys.sorted() == [7])
            #expect(heard.withLock(\.self).isEmpty)
            journal.isFull.withLock { $0 = false }
            await observer.storeWaiting()
            let first = try await events(1)
            #expect(first.map(\.event) == [.enter])
            observer.observe(fixes(40..<80))
            let both = try await events(2)
            #expect(both.map(\.event) == [.enter, .leave])
            try await log.wait(for: 1, with: "Storing the events at places again")
        }
    }

    @Test func `fixes that find the places unreadable decide nothing, and later ones do`() async throws {
        let log = LogLines()
        try await observing(log) { observer in
            journal.isUnreadable.withLock { $0 = true }
            observer.observe(fixes(0..<20))
            try await log.wait(for: 1, with: "Cannot read the places")
            #expect(await observer.visits().isEmpty)
            journal.isUnreadable.withLock { $0 = false }
            observer.observe(fixes(20..<40))
            let found = try await events(1)
            #expect(found.map(\.place) == ["Pier"])
        }
    }

    @Test func `an event has the name that the place has now`() async throws {
        try await observing { observer in
            observer.observe(fixes(0..<40))
            _ = try await events(1)
            journal.name.withLock { $0 = "Jetty" }
            observer.observe(fixes(40..<80))
            let found = try await events(2)
            #expect(found.map(\.place) == ["Pier", "Jetty"])
        }
    }
}
