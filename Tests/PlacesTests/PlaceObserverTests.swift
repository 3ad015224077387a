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
        let commits = Mutex<[PlaceChanges]>([])
        let hasPlace = Mutex(true)

        func index(overlapping bounds: [GeographicBounds]) throws -> [IndexedPlace] {
            if isUnreadable.withLock(\.self) { throw Full() }
            return [IndexedPlace(id: 7, bounds: GeographicBounds(around: PlaceObserverTests.center, within: 50))]
        }

        func places(_ ids: [Int64]) throws -> [Place] {
            let shape = PlaceShape.circle(center: PlaceObserverTests.center, radius: 50)
            let definition = PlaceDefinition(name: name.withLock(\.self), shape: shape)
            return ids.contains(7) && hasPlace.withLock(\.self) ? [Place(id: 7, definition: definition)] : []
        }

        func openTrip() throws -> Int? { 3 }

        func commit(_ changes: PlaceChanges) throws -> [PlaceEvent] {
            if isFull.withLock(\.self) { throw Full() }
            commits.withLock { $0.append(changes) }
            return changes.events
        }
    }

    private static let center = Coordinate(latitude: 48, longitude: 11)

    private let journal = Journal()
    private let heard = Mutex<[PlaceEvent]>([])
    private let due = Mutex<[DueAction]>([])
    private let texts = Mutex<[String]>([])
    private let signal = Signal()

    /// Fixes from west to east through the place, 5 m/s, the seconds of `range`.
    private func fixes(_ range: Range<Int>, from start: MonotonicTime = MonotonicTime(seconds: 1000)) -> [PlaceFix] {
        range.map { second in
            PlaceFix(
                timestamp: Date(timeIntervalSince1970: 1_795_000_000 + Double(second)),
                arrival: MonotonicTime(seconds: start.seconds + Double(second)),
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
        rules: [PlaceRule] = [],
        firings: [PlaceFiring] = [],
        recent: [PlaceFix] = [],
        _ body: (PlaceObserver) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in log }
        let observer = PlaceObserver(
            journal.commits.withLock { $0.last?.state },
            recent: recent,
            book: PlaceRuleBook(rules, firings: firings),
            journal: journal,
            clock: ContinuousClock(),
            logger: logger
        ) { [self] ruled in
            due.withLock { $0 += ruled.due }
            heard.withLock { $0 += ruled.events }
            signal.post()
        } onSpeech: { [self] new in
            texts.withLock { $0 = new }
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

    // MARK: Rules

    private static let speech = PlaceRule(
        name: "tour",
        on: .enter,
        once: .ever,
        announcement: PlaceRule.Announcement(.text(try! PlaceTemplate("This is {name}")), expires: .seconds(30))
    )

    @Test func `a rule fires once, is stored with its event, and its text is known before`() async throws {
        try await observing(rules: [Self.speech]) { observer in
            observer.observe(fixes(0..<80, from: .now))
            let found = try await events(2)
            #expect(found.map(\.event) == [.enter, .leave])
            #expect(found.map(\.tripId) == [3, 3])
            #expect(found[0].actions.map(\.rule) == ["tour"])
            #expect(due.withLock(\.self).map(\.operation) == [.say(text: "This is Pier", duck: nil, priority: 0)])
            #expect(texts.withLock(\.self) == ["This is Pier"])
            let saved = journal.commits.withLock { $0.flatMap(\.saved) }
            #expect(saved.first?.key == PlaceFiring.Key(rule: "tour", placeId: 7))
        }
    }

    @Test func `a firing before a restart is known after it`() async throws {
        let firing = PlaceFiring(
            key: PlaceFiring.Key(rule: "tour", placeId: 7),
            time: Date(timeIntervalSince1970: 1_794_000_000),
            utcOffset: 0
        )
        try await observing(rules: [Self.speech], firings: [firing]) { observer in
            observer.observe(fixes(0..<40, from: .now))
            let found = try await events(1)
            #expect(found[0].actions.map(\.outcome) == [.once])
            #expect(due.withLock(\.self).isEmpty)
        }
    }

    @Test func `fixes that a crash kept from being judged are judged after it, and none twice`() async throws {
        let start = MonotonicTime.now
        try await observing(rules: [Self.speech]) { observer in
            observer.observe(fixes(0..<20, from: start))
            // The end of the observer stores the state.
        }
        try await observing(rules: [Self.speech], recent: fixes(0..<40, from: start)) { observer in
            let found = try await events(1)
            #expect(found.map(\.event) == [.enter])
            #expect(found.map(\.initial) == [nil])
            #expect(due.withLock(\.self).count == 1)
        }
        try await observing(rules: [Self.speech], recent: fixes(0..<40, from: start)) { observer in
            observer.observe(fixes(40..<80, from: start))
            let found = try await events(2)
            #expect(found.map(\.event) == [.enter, .leave])
        }
    }

    @Test func `an event that was stored too late starts no announcement, and uses up nothing`() async throws {
        let log = LogLines()
        try await observing(log, rules: [Self.speech]) { observer in
            journal.isFull.withLock { $0 = true }
            observer.observe(fixes(0..<40, from: MonotonicTime(seconds: MonotonicTime.now.seconds - 100)))
            try await log.wait(for: 1, with: "Cannot store the events at places")
            journal.isFull.withLock { $0 = false }
            await observer.storeWaiting()
            let found = try await events(1)
            #expect(found[0].actions.map(\.outcome) == [.expired])
            #expect(due.withLock(\.self).isEmpty)
            #expect(journal.commits.withLock { $0.flatMap(\.saved) }.isEmpty)
        }
    }

    @Test func `a rule that a full disk kept from firing fires when the event is stored in time`() async throws {
        let log = LogLines()
        try await observing(log, rules: [Self.speech]) { observer in
            journal.isFull.withLock { $0 = true }
            observer.observe(fixes(0..<40, from: .now))
            try await log.wait(for: 1, with: "Cannot store the events at places")
            #expect(due.withLock(\.self).isEmpty)
            journal.isFull.withLock { $0 = false }
            await observer.storeWaiting()
            _ = try await events(1)
            #expect(due.withLock(\.self).count == 1)
        }
    }

    @Test func `dwell is decided while no fixes arrive`() async throws {
        let rule = PlaceRule(name: "anchored", on: .dwell, watch: .dwell(0.3), task: "hook")
        try await observing(rules: [rule]) { observer in
            let start = MonotonicTime(seconds: MonotonicTime.now.seconds - 34)
            observer.observe(fixes(0..<35, from: start))
            let found = try await events(2)
            #expect(found.map(\.event) == [.enter, .dwell])
            #expect(due.withLock(\.self).map(\.rule) == ["anchored"])
        }
    }

    @Test func `new rules apply to the places around, also to those inside`() async throws {
        try await observing { observer in
            observer.observe(fixes(0..<40, from: .now))
            _ = try await events(1)
            await observer.setRules([PlaceRule(name: "anchored", on: .dwell, watch: .dwell(0.2), fetch: "news")])
            let found = try await events(2)
            #expect(found[1].event == .dwell)
            #expect(due.withLock(\.self).map(\.operation) == [.fetch(source: "news")])
        }
    }

    @Test func `a simulated event makes rules act each time, and they do not remember it`() async throws {
        try await observing(rules: [Self.speech]) { observer in
            let place = try #require(try journal.places([7]).first)
            let event = PlaceEvent(
                id: 0,
                placeId: 7,
                place: "Pier",
                event: .enter,
                timestamp: Date(timeIntervalSince1970: 1_795_000_000),
                latitude: 48,
                longitude: 11,
                distance: 50,
                simulated: true
            )
            for _ in 1...2 { #expect(try await observer.simulate(event, at: place).due.count == 1) }
            #expect(journal.commits.withLock { $0.flatMap(\.saved) }.isEmpty)
            journal.isFull.withLock { $0 = true }
            await #expect(throws: Journal.Full.self) { try await observer.simulate(event, at: place) }
        }
    }

    @Test func `the firings at a place that was removed are removed`() async throws {
        try await observing(rules: [Self.speech]) { observer in
            observer.observe(fixes(0..<40, from: .now))
            _ = try await events(1)
            journal.hasPlace.withLock { $0 = false }
            await observer.placesChanged([7])
            #expect(
                journal.commits.withLock { $0.flatMap(\.removed) } == [PlaceFiring.Key(rule: "tour", placeId: 7)]
            )
            #expect(await observer.visits().isEmpty)
        }
    }
}
