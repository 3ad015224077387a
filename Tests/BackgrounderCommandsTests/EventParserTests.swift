import BackgrounderAPI
import FoundationEssentials
import TestSupport
import Testing

@testable import BackgrounderCommands

@Suite struct EventParserTests {
    private static let location = Location(latitude: 1, longitude: 2, timestamp: Date(timeIntervalSince1970: 3))
    private static let item = PlayerItem(id: 4, position: 0, path: "/ünï/日本.mp3", title: "a\nb")

    private static func bytes() throws -> [UInt8] {
        let status = ServiceStatus(
            version: "1",
            pid: 1,
            state: .active,
            since: Date(timeIntervalSince1970: 0),
            attached: 1,
            modes: [.audio]
        )
        let events: [Event] = [
            .state(StateSnapshot(status: status, track: [location], queue: [item])), .location(location),
            .currentItem(CurrentItem(item: item)), .currentItem(CurrentItem(item: nil)),
            .time(PlayerTime(itemID: 4, elapsed: 1.5, duration: 9)),
            .lifecycle(LifecycleState(state: .background, attached: 0)),
        ]
        var text = ": keepalive\n\n"
        for event in events {
            text +=
                "event: \(event.name)\ndata: \(try JSON.line(event.payload))\n\n: keepalive\n\nevent: later\ndata: {\"x\":1}\n\n"
        }
        return Array(text.utf8)
    }

    private func check(_ events: [Event]) {
        #expect(events.map(\.name) == ["state", "location", "currentItem", "currentItem", "time", "lifecycle"])
        guard events.count == 6, case .state(let state) = events[0], case .location(let location) = events[1],
            case .currentItem(let current) = events[2], case .currentItem(let none) = events[3],
            case .time(let time) = events[4],
            case .lifecycle(let lifecycle) = events[5]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(state.track == [Self.location])
        #expect(state.queue == [Self.item])
        #expect(location == Self.location)
        #expect(current.item == Self.item)
        #expect(none.item == nil)
        #expect(time == PlayerTime(itemID: 4, elapsed: 1.5, duration: 9))
        #expect(lifecycle == LifecycleState(state: .background, attached: 0))
    }

    @Test func `a stream in one piece yields all its events`() throws {
        var parser = EventParser()
        check(parser.feed(try Self.bytes()))
    }

    @Test func `a stream that arrives byte by byte yields the same events`() throws {
        var parser = EventParser()
        check(try Self.bytes().flatMap { parser.feed(CollectionOfOne($0)) })
    }

    @Test(arguments: 1...20)
    func `a stream in random pieces yields the same events`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var parser = EventParser()
        var rest = try Self.bytes()[...]
        var events: [Event] = []
        while !rest.isEmpty {
            let count = Int.random(in: 1...200, using: &generator)
            events += parser.feed(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        check(events)
    }

    @Test func `an event with invalid data is skipped, and the next event is read`() {
        var parser = EventParser()
        let text =
            "event: location\ndata: {\"latitude\":1}\n\nevent: time\ndata: no\n\nevent: time\ndata: {\"itemID\":1,\"elapsed\":2}\n\n"
        #expect(parser.feed(text.utf8).map(\.name) == ["time"])
    }
}
