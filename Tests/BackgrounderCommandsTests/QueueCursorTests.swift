import BackgrounderAPI
import FoundationEssentials
import Testing

@testable import BackgrounderCommands

@Suite struct QueueCursorTests {
    /// A queue in a service, which is longer than a snapshot.
    private struct Queue {
        var ids: [Int]
        var current: Int
        var state = LiveState()

        init(_ ids: some Sequence<Int>, current: Int) {
            (self.ids, self.current) = (Array(ids), current)
            publish()
        }

        /// Returns the items of a page around `id`, as the service does.
        func page(around id: Int) -> [PlayerItem]? {
            guard let middle = ids.firstIndex(of: id) else { return nil }
            let first = max(0, min(middle - 100, ids.count - 200))
            return ids.enumerated().dropFirst(first).prefix(200).map {
                PlayerItem(id: $1, position: $0, path: "/\($1)")
            }
        }

        mutating func publish() {
            let page = page(around: current) ?? []
            let audio = AudioStatus(
                timeControlStatus: .playing,
                currentItem: page.first { $0.id == current },
                driver: "null",
                volume: 100,
                repeat: false,
                single: .off,
                consume: false,
                random: false,
                underruns: 0,
                interruptions: 0,
                since: Date()
            )
            let status = ServiceStatus(
                version: "0.1.0",
                pid: 7,
                state: .active,
                since: Date(),
                attached: 1,
                modes: [],
                audio: audio
            )
            state.apply(.state(StateSnapshot(status: status, track: [], queue: page, queueLength: ids.count)))
        }
    }

    @Test func `nothing selected means the current item, also when it changes`() {
        var queue = Queue(1...5, current: 2)
        var cursor = QueueCursor()
        #expect(cursor.selected(in: queue.state)?.id == 2)
        queue.current = 4
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 4)
        #expect(cursor.takeRequest() == nil)
    }

    @Test func `the selection moves to the ends of the queue and no further`() {
        let queue = Queue(1...5, current: 2)
        var cursor = QueueCursor()
        cursor.step(1, in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 3)
        cursor.step(10, in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 5)
        cursor.step(-10, in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 1)
        #expect(cursor.takeRequest() == nil)
    }

    @Test func `the selection follows its item when the queue changes`() {
        var queue = Queue(1...5, current: 2)
        var cursor = QueueCursor()
        cursor.step(1, in: queue.state)
        queue.ids = [9, 8, 5, 4, 3, 2, 1]
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 3)
        #expect(cursor.selected(in: queue.state)?.position == 4)
    }

    @Test func `after the selected item was removed, the next one is selected, or the last`() {
        var queue = Queue(1...5, current: 1)
        var cursor = QueueCursor()
        cursor.step(2, in: queue.state)
        queue.ids = [1, 2, 4, 5]
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 4)
        queue.ids = [1, 2]
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 2)
        queue.ids = []
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.selected(in: queue.state) == nil)
    }

    @Test func `leaving an item that is about to be removed selects the next one, or the one before the end`() {
        let queue = Queue(1...3, current: 1)
        var cursor = QueueCursor()
        cursor.leaveSelected(in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 2)
        cursor.step(1, in: queue.state)
        cursor.leaveSelected(in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 2)
    }

    @Test func `in a queue of 100,000 items only pages around the selection are read`() {
        var queue = Queue(1...100_000, current: 1)
        var cursor = QueueCursor()
        var pages = 0
        for expected in 2...1000 {
            cursor.step(1, in: queue.state)
            if let id = cursor.takeRequest() {
                pages += 1
                cursor.receive(queue.page(around: id), around: id, in: queue.state)
            }
            #expect(cursor.selected(in: queue.state)?.id == expected)
            #expect(cursor.items(in: queue.state).count == 200)
        }
        #expect((10...40).contains(pages), "\(pages)")
        // A change elsewhere makes it read one page, and not again until the next change.
        queue.ids.insert(200_000, at: 0)
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.takeRequest() == 1000)
        cursor.receive(queue.page(around: 1000), around: 1000, in: queue.state)
        cursor.follow(queue.state)
        #expect(cursor.takeRequest() == nil)
        #expect(cursor.selected(in: queue.state)?.position == 1000)
        // The selected item was removed.
        queue.ids.removeAll { $0 == 1000 }
        queue.publish()
        cursor.follow(queue.state)
        #expect(cursor.takeRequest() == 1000)
        cursor.receive(nil, around: 1000, in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 1001)
    }

    @Test func `a reply for an item that is no longer selected is ignored`() {
        let queue = Queue(1...1000, current: 1)
        var cursor = QueueCursor()
        cursor.step(150, in: queue.state)
        #expect(cursor.takeRequest() == 151)
        cursor.step(-1, in: queue.state)
        cursor.receive(nil, around: 151, in: queue.state)
        #expect(cursor.selected(in: queue.state)?.id == 150)
    }
}
