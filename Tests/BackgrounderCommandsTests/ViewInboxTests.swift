import BackgrounderAPI
import Foundation
import Testing

@testable import BackgrounderCommands

@Suite struct ViewInboxTests {
    @Test func `messages that arrive between two reads ring once and are delivered together`() async {
        let inbox = ViewInbox()
        for index in 0..<10_000 {
            let time = Date(timeIntervalSince1970: Double(index))
            inbox.post(.event(.location(Location(latitude: 1, longitude: 2, timestamp: time))))
            inbox.post(.resized)
        }
        inbox.post(.quit)
        inbox.post(.ended(CommandFailure("first")))
        inbox.post(.ended(CommandFailure("second")))
        var rings = inbox.bell.makeAsyncIterator()
        await rings.next()
        let content = inbox.take()
        #expect(content.state.track.count == 100)
        #expect(content.state.track.last?.timestamp == Date(timeIntervalSince1970: 9999))
        #expect(content.isQuit)
        #expect(content.failure?.description == "first")
        #expect(!content.isSuspended)
        #expect(!content.isResumed)
        inbox.post(.suspended)
        await rings.next()
        #expect(inbox.take().isSuspended, "the earlier messages rang more than once")
    }

    @Test func `a suspension is reported once, and the state stays`() {
        let inbox = ViewInbox()
        inbox.post(.event(.location(Location(latitude: 1, longitude: 2, timestamp: Date()))))
        inbox.post(.suspended)
        inbox.post(.resumed)
        let first = inbox.take()
        #expect(first.isSuspended)
        #expect(first.isResumed)
        #expect(first.state.track.count == 1)
        let second = inbox.take()
        #expect(!second.isSuspended)
        #expect(!second.isResumed)
        #expect(second.state.track.count == 1)
    }

    @Test func `keys and replies are delivered once and in order, and a flood of keys is bounded`() {
        let inbox = ViewInbox()
        inbox.post(.key(.up))
        inbox.post(.key(.character("d")))
        inbox.post(.refused(CommandFailure("the queue is empty")))
        inbox.post(.page([], around: 7))
        let content = inbox.take()
        #expect(content.keys == [.up, .character("d")])
        #expect(content.refusal?.description == "the queue is empty")
        #expect(content.page?.id == 7)
        #expect(!content.hasMoved)
        inbox.post(.event(.location(Location(latitude: 1, longitude: 2, timestamp: Date()))))
        let next = inbox.take()
        #expect(next.keys == [])
        #expect(next.refusal == nil)
        #expect(next.page == nil)
        #expect(next.hasMoved)
        for _ in 0..<10_000 { inbox.post(.key(.down)) }
        let flood = inbox.take()
        #expect(flood.keys.count == 64)
        #expect(!flood.hasMoved)
    }
}
