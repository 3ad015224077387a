import TestSupport
import Testing

@testable import LocationUpdates

@Suite struct MailboxTests {
    private let mailbox = Mailbox()

    private func next() async -> Int? {
        await withCheckedContinuation { mailbox.next($0) }?.run
    }

    @Test("Batches come in their order, to a reader who waits and to one who comes later")
    func order() async {
        for run in 1...3 { mailbox.send(SourceBatch(run: run, items: [])) }
        for run in 1...3 { #expect(await next() == run) }
        async let waited = next()
        mailbox.send(SourceBatch(run: 4, items: []))
        #expect(await waited == 4)
    }

    @Test("A finished one is at its end at once, also where a source is ahead, and takes nothing any more")
    func end() async {
        for run in 1...4 { mailbox.send(SourceBatch(run: run, items: [])) }
        #expect(await next() == 1)
        mailbox.finish()
        mailbox.send(SourceBatch(run: 5, items: []))
        #expect(await next() == nil)
        #expect(await next() == nil)
    }

    @Test("Whoever waits hears of the end")
    func waiting() async {
        async let waited = next()
        mailbox.finish()
        #expect(await waited == nil)
    }
}
