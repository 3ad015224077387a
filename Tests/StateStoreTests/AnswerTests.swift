import Dispatch
import Synchronization
import Testing

@testable import StateStore

/// Tests that ``StateStore/answers()`` waits for the database queue.
@Suite struct AnswerTests {
    private final class Words: Sendable {
        private let all = Mutex<[String]>([])
        var list: [String] { all.withLock { $0 } }
        func add(_ word: String) { all.withLock { $0.append(word) } }
    }

    @Test func `a blocked write delays the answer`() async throws {
        let store = try StoreFixture().open()
        await store.answers()
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let end = DispatchSemaphore(value: 0)
        let words = Words()
        let writing = Task {
            try await store.write(durable: false) { _ in
                begin.yield()
                end.wait()
                words.add("write")
            }
        }
        for await _ in began { break }
        let answering = Task {
            await store.answers()
            words.add("answer")
        }
        end.signal()
        try await writing.value
        await answering.value
        #expect(words.list == ["write", "answer"])
    }
}
