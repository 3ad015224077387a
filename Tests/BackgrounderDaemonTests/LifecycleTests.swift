import BackgrounderAPI
import Synchronization
import Testing

@testable import BackgrounderDaemon

@Suite struct LifecycleTests {
    /// Something that a test holds up and then lets go.
    private final class Gate: Sendable {
        private let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        private let (opened, open) = AsyncStream.makeStream(of: Void.self)

        /// Reports that the caller has arrived, and waits until the gate opens.
        func pass() async {
            begin.yield()
            for await _ in opened { return }
        }

        func waitForArrival() async { for await _ in begun { return } }

        func letGo() { open.finish() }
    }

    private actor Record {
        var attachments: [Bool] = []
        var states: [ApplicationState] = []
        var isWorking = true

        func attachment(_ isAnyone: Bool) { attachments.append(isAnyone) }
        func stopWorking() { isWorking = false }
    }

    @Test func `clients and work determine the state`() async {
        let record = Record()
        let lifecycle = Lifecycle {
            await record.isWorking
        } onAttachment: {
            await record.attachment($0)
        } onChange: { _ in
        }
        #expect(lifecycle.current.state == .suspended)
        await lifecycle.update()
        #expect(lifecycle.current.state == .background)
        let first = await lifecycle.attached()
        let second = await lifecycle.attached()
        #expect(lifecycle.current.state == .active)
        #expect(lifecycle.current.attached == 2)
        await lifecycle.stalled(first, true)
        #expect(lifecycle.current.state == .active)
        await lifecycle.stalled(second, true)
        #expect(lifecycle.current.state == .inactive)
        await lifecycle.stalled(first, false)
        #expect(lifecycle.current.state == .active)
        await lifecycle.detached(first)
        #expect(lifecycle.current.state == .inactive)
        await lifecycle.detached(second)
        #expect(lifecycle.current.state == .background)
        await record.stopWorking()
        await lifecycle.update()
        #expect(lifecycle.current.state == .suspended)
        #expect(await record.attachments == [true, false])
    }

    @Test func `when clients attach and detach concurrently, the last notification is true`() async {
        let record = Record()
        let lifecycle = Lifecycle {
            false
        } onAttachment: {
            await Task.yield()
            await record.attachment($0)
        } onChange: { _ in
        }
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { await lifecycle.detached(await lifecycle.attached()) }
            }
        }
        #expect(lifecycle.current.attached == 0)
        let attachments = await record.attachments
        #expect(attachments.last == false)
        #expect(zip(attachments, attachments.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func `an old answer of the modes never replaces a newer one`() async {
        let gate = Gate()
        let calls = Mutex(0)
        let lifecycle = Lifecycle {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            guard call == 1 else { return true }
            // Nothing works when the first call looks, but its answer is late.
            await gate.pass()
            return false
        } onAttachment: { _ in
        } onChange: { _ in
        }
        let first = Task { await lifecycle.update() }
        await gate.waitForArrival()
        let second = Task { await lifecycle.update() }
        // Gives the second update time to overtake the first one, if it can.
        try? await Task.sleep(for: .milliseconds(100))
        gate.letGo()
        await first.value
        await second.value
        #expect(lifecycle.current.state == .background)
    }

    @Test func `no client attaches in the middle of a reload`() async {
        let gate = Gate()
        let log = Mutex<[String]>([])
        let lifecycle = Lifecycle {
            false
        } onAttachment: { isAnyoneAttached in
            log.withLock { $0.append("attached: \(isAnyoneAttached)") }
        } onChange: { _ in
        }
        let reload = Task {
            await lifecycle.withAttachment { isAnyoneAttached in
                await gate.pass()
                log.withLock { $0.append("reloaded while attached: \(isAnyoneAttached)") }
            }
        }
        await gate.waitForArrival()
        let attachment = Task { await lifecycle.attached() }
        try? await Task.sleep(for: .milliseconds(100))
        gate.letGo()
        await reload.value
        let client = await attachment.value
        await lifecycle.detached(client)
        #expect(log.withLock { $0 } == ["reloaded while attached: false", "attached: true", "attached: false"])
    }

    @Test func `a client that leaves while the first is announced leaves nobody attached`() async {
        let gate = Gate()
        let log = Mutex<[Bool]>([])
        let lifecycle = Lifecycle {
            false
        } onAttachment: { isAnyoneAttached in
            if isAnyoneAttached { await gate.pass() }
            log.withLock { $0.append(isAnyoneAttached) }
        } onChange: { _ in
        }
        let attachment = Task { await lifecycle.attached() }
        await gate.waitForArrival()
        let detachment = Task { await lifecycle.detached(1) }
        try? await Task.sleep(for: .milliseconds(100))
        gate.letGo()
        _ = await attachment.value
        await detachment.value
        #expect(log.withLock { $0 } == [true, false])
        #expect(lifecycle.current.attached == 0)
    }
}
