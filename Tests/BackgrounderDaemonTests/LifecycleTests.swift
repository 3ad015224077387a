import BackgrounderAPI
import Synchronization
import TestSupport
import Testing

@testable import BackgrounderDaemon

@Suite struct LifecycleTests {
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
        let steps = StepExecutor()
        Task(executorPreference: steps) { await lifecycle.update() }
        steps.run()
        // The second update overtakes the first one here, if it can.
        Task(executorPreference: steps) { await lifecycle.update() }
        steps.run()
        gate.open()
        steps.run()
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
        let steps = StepExecutor()
        Task(executorPreference: steps) {
            await lifecycle.withAttachment { isAnyoneAttached in
                await gate.pass()
                log.withLock { $0.append("reloaded while attached: \(isAnyoneAttached)") }
            }
        }
        steps.run()
        Task(executorPreference: steps) { await lifecycle.detached(await lifecycle.attached()) }
        steps.run()
        gate.open()
        steps.run()
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
        let steps = StepExecutor()
        Task(executorPreference: steps) { await lifecycle.attached() }
        steps.run()
        Task(executorPreference: steps) { await lifecycle.detached(1) }
        steps.run()
        gate.open()
        steps.run()
        #expect(log.withLock { $0 } == [true, false])
        #expect(lifecycle.current.attached == 0)
    }
}

/// Runs tasks on the thread of a test, each until it suspends, so that the test decides how they interleave.
private final class StepExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Returns when all tasks have ended or wait for something.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
