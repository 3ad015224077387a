import BackgrounderAPI
import NIOCore
import Synchronization
import Testing

@testable import ControlServer

@Suite struct EventReaderTests {
    private static let event = Event.time(PlayerTime(itemID: 1, elapsed: 2))

    @Test func `What comes while the first state is encoded comes after it`() {
        let reader = EventReader {}
        reader.begin(with: .sample()) { event in
            if case .state = event { reader.post(Self.event, bytes: EventHub.encode(Self.event)) }
            return ByteBuffer(string: event.name + " ")
        }
        reader.post(Self.event, bytes: ByteBuffer(string: "later"))
        #expect(String(buffer: reader.take()) == "state time later")
    }

    @Test func `256 KiB may wait, whether taken or not, and one byte more ends the reader`() {
        let overflows = Mutex(0)
        let reader = EventReader { overflows.withLock { $0 += 1 } }
        reader.begin(with: .sample()) { _ in ByteBuffer(repeating: 0, count: 500_000) }
        reader.append(ByteBuffer(repeating: 0, count: 128 << 10))
        #expect(reader.take().readableBytes == 500_000 + (128 << 10))
        reader.append(ByteBuffer(repeating: 0, count: 128 << 10))
        #expect(overflows.withLock { $0 } == 0)
        reader.append(ByteBuffer(repeating: 0, count: 1))
        #expect(overflows.withLock { $0 } == 1)
    }

    @Test func `What was sent no longer counts`() {
        let overflows = Mutex(0)
        let reader = EventReader { overflows.withLock { $0 += 1 } }
        reader.begin(with: .sample()) { _ in ByteBuffer() }
        for _ in 0..<100 {
            reader.append(ByteBuffer(repeating: 0, count: 256 << 10))
            _ = reader.take()
            reader.sent()
        }
        #expect(overflows.withLock { $0 } == 0)
    }
}
