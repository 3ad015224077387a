import BackgrounderAPI
import NIOCore
import Synchronization
import Testing

@testable import ControlServer

@Suite struct EventReaderTests {
    private static let event = Event.location(.sample(1))

    private func makeReader(onOverflow: @escaping @Sendable () -> Void = {}) -> EventReader {
        EventReader(limit: { 256 << 10 }, onOverflow: onOverflow)
    }

    @Test func `events posted while the first state is encoded come after it`() {
        let reader = makeReader()
        reader.begin(with: .sample()) { event in
            if case .state = event { reader.post(Self.event, bytes: EventHub.encode(Self.event)) }
            return ByteBuffer(string: event.name + " ")
        }
        reader.post(Self.event, bytes: ByteBuffer(string: "later"))
        #expect(String(buffer: reader.take()) == "state location later")
    }

    @Test func `a reader overflows above 256 KiB of unsent bytes, whether taken or not`() {
        let overflows = Mutex(0)
        let reader = makeReader { overflows.withLock { $0 += 1 } }
        reader.begin(with: .sample()) { _ in ByteBuffer(repeating: 0, count: 500_000) }
        reader.append(ByteBuffer(repeating: 0, count: 128 << 10))
        #expect(reader.take().readableBytes == 500_000 + (128 << 10))
        reader.append(ByteBuffer(repeating: 0, count: 128 << 10))
        #expect(overflows.withLock { $0 } == 0)
        reader.append(ByteBuffer(repeating: 0, count: 1))
        #expect(overflows.withLock { $0 } == 1)
    }

    @Test func `sent bytes no longer count towards the limit`() {
        let overflows = Mutex(0)
        let reader = makeReader { overflows.withLock { $0 += 1 } }
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        for _ in 0..<100 {
            reader.append(ByteBuffer(repeating: 0, count: 256 << 10))
            _ = reader.take()
            reader.sent()
        }
        #expect(overflows.withLock { $0 } == 0)
    }

    @Test func `of pending states only the newest is kept, in the place where it was posted`() {
        let reader = makeReader()
        reader.begin(with: .sample()) { _ in ByteBuffer(string: "first ") }
        reader.post(Self.event, bytes: ByteBuffer(string: "location "))
        reader.post(.state(.sample()), bytes: ByteBuffer(string: "second"))
        #expect(String(buffer: reader.take()) == "location second")
    }

    @Test func `of several pending times only the newest is delivered`() async throws {
        let reader = makeReader()
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        _ = reader.take()
        let (times, continuation) = AsyncStream.makeStream(of: PlayerTime.self, bufferingPolicy: .bufferingNewest(1))
        for elapsed in [1.0, 2, 3] { continuation.yield(PlayerTime(itemID: 1, elapsed: elapsed)) }
        let observer = Task { await reader.observe { times } }
        var signals = reader.signals.makeAsyncIterator()
        _ = await signals.next()
        var bytes = reader.take()
        while bytes.readableBytes == 0 {
            _ = await signals.next()
            bytes = reader.take()
        }
        #expect(String(buffer: bytes) == String(buffer: EventHub.encode(.time(PlayerTime(itemID: 1, elapsed: 3)))))
        reader.finish()
        continuation.finish()
        await observer.value
    }

    @Test func `an event posted before a time is taken does not delay the next time`() async throws {
        let reader = makeReader()
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        _ = reader.take()
        let (times, continuation) = AsyncStream.makeStream(of: PlayerTime.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Task { await reader.observe { times } }
        var signals = reader.signals.makeAsyncIterator()
        for elapsed in [1.0, 2, 3] {
            let time = PlayerTime(itemID: 1, elapsed: elapsed)
            continuation.yield(time)
            _ = await signals.next()
            reader.post(Self.event, bytes: ByteBuffer(string: "later"))
            var text = ""
            while !text.contains("later") || !text.contains("\(Int(elapsed))") {
                text += String(buffer: reader.take())
                if !text.contains("\(Int(elapsed))") { _ = await signals.next() }
            }
        }
        reader.finish()
        continuation.finish()
        await observer.value
    }

    @Test func `a reader that falls behind gets one more time, and the newest after it catches up`() async throws {
        let reader = makeReader()
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        _ = reader.take()
        reader.setBehind(true)
        let (times, continuation) = AsyncStream.makeStream(of: PlayerTime.self, bufferingPolicy: .bufferingNewest(1))
        let observer = Task { await reader.observe { times } }
        var signals = reader.signals.makeAsyncIterator()
        func encoded(_ elapsed: Double) -> String {
            String(buffer: EventHub.encode(.time(PlayerTime(itemID: 1, elapsed: elapsed))))
        }
        continuation.yield(PlayerTime(itemID: 1, elapsed: 1))
        var bytes = reader.take()
        while bytes.readableBytes == 0 {
            _ = await signals.next()
            bytes = reader.take()
        }
        #expect(String(buffer: bytes) == encoded(1))
        for elapsed in [2.0, 3, 4] { continuation.yield(PlayerTime(itemID: 1, elapsed: elapsed)) }
        for _ in 0..<100 { await Task.yield() }
        #expect(reader.take().readableBytes == 0)
        reader.setBehind(false)
        bytes = reader.take()
        while bytes.readableBytes == 0 {
            _ = await signals.next()
            bytes = reader.take()
        }
        #expect(String(buffer: bytes) == encoded(4))
        reader.finish()
        continuation.finish()
        await observer.value
    }

    @Test func `times are not observed while a reader is behind`() async throws {
        let reader = makeReader()
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let begins = Mutex(0)
        let observer = Task {
            await reader.observe {
                begins.withLock { $0 += 1 }
                let (times, continuation) = AsyncStream.makeStream(of: PlayerTime.self)
                continuation.onTermination = { _ in ended.yield() }
                continuation.yield(PlayerTime(itemID: 1, elapsed: 1))
                return times
            }
        }
        reader.setBehind(true)
        var iterator = ends.makeAsyncIterator()
        await iterator.next()
        #expect(begins.withLock { $0 } == 1)
        reader.setBehind(false)
        while begins.withLock({ $0 }) == 1 { await Task.yield() }
        reader.finish()
        await observer.value
        #expect(begins.withLock { $0 } == 2)
    }
}
