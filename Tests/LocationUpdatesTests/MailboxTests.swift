import TestSupport
import Testing

@testable import LocationUpdates

@Suite struct MailboxTests {
    private let mailbox = Mailbox()

    private func next() async -> Int? {
        await withCheckedContinuation { mailbox.next($0) }?.run
    }

    @Test func `batches arrive in order, for a waiting reader and for a later one`() async {
        for run in 1...3 { mailbox.send(SourceBatch(run: run, items: [])) }
        for run in 1...3 { #expect(await next() == run) }
        async let waited = next()
        mailbox.send(SourceBatch(run: 4, items: []))
        #expect(await waited == 4)
    }

    @Test func `a finished mailbox ends immediately, even with batches waiting, and accepts no more`() async {
        for run in 1...4 { mailbox.send(SourceBatch(run: run, items: [])) }
        #expect(await next() == 1)
        mailbox.finish()
        mailbox.send(SourceBatch(run: 5, items: []))
        #expect(await next() == nil)
        #expect(await next() == nil)
    }

    @Test func `finishing ends a waiting read`() async {
        async let waited = next()
        mailbox.finish()
        #expect(await waited == nil)
    }
}
