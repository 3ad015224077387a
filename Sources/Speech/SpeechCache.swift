package import Logging
import ServiceLifecycle
package import SystemSupport

/// Renders texts to WAV files, and keeps these in a folder with a size limit.
///
/// Texts are rendered ahead one at a time, with low priority. A text that a caller waits for does not wait for them: it
/// is rendered at the same time. No process and no timer exists while nothing is wanted.
///
///     let cache = SpeechCache(folder: state + "/speech", limit: 50_000_000, clock: clock, logger: logger)
///     await cache.prepare(["Next stop: Harbour", "Next stop: Church Street"])
///     let path = try await cache.file(for: "Next stop: Harbour", before: .now + .seconds(2))
package actor SpeechCache: Service {
    /// A text and the name of its file.
    struct Item {
        var text: SpeechText
        var name: String
    }

    /// A sequence of programs that run one after the other.
    enum Lane {
        /// For texts that a caller waits for.
        case urgent
        /// For prepared texts.
        case ahead
    }

    private struct Waiter {
        var name: String
        var continuation: CheckedContinuation<Result<String, SpeechError>, Never>
        var timer: Task<Void, Never>
    }

    private let executor = QueueExecutor("backgrounder.speech")
    /// The queue on which the actor waits for the disk.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let folder: SpeechFolder
    let limit: Int
    let renderer: SpeechRenderer
    let keeper: String
    let clock: any Clock<Duration>
    let logger: Logger

    var index = SpeechIndex()
    private var isLoaded = false
    private var isStopped = false

    /// The texts that callers wait for, in the order of their calls.
    private var urgent: [Item] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0

    /// The texts to render ahead.
    var prepared: [Item] = []
    /// The names of the files of the last ``prepare(_:)``.
    var wanted: Set<String> = []
    /// By name: how often a prepared text failed.
    private var attempts: [String: Int] = [:]

    private(set) var lanes: [Lane: Task<Void, Never>] = [:]
    /// The names of the files that are being rendered.
    private var running: [Lane: String] = [:]

    /// The failures since the last success.
    var failures = 0
    var retryDelay: RetryDelay
    /// The time until which no program is started, and the reason.
    var pause: (end: MonotonicTime, error: SpeechError)?
    /// Continues to render ahead after the pause.
    var retry: Task<Void, Never>?

    /// Creates a cache. Nothing happens before a text is wanted; then the folder is created with mode 0700.
    ///
    /// - Parameters:
    ///   - folder: an absolute path, whose parent exists and which nothing else uses.
    ///   - limit: bytes of all files together. Files that were returned within the last minute may exceed it.
    ///   - keeper: the path of `backgrounderd`, the program of the keeper process.
    ///   - clock: the clock for time limits and deadlines.
    ///   - retryDelay: the pauses after several failures in a row.
    package init(
        folder: String,
        limit: Int,
        renderer: SpeechRenderer = SpeechRenderer(),
        keeper: String = "/proc/self/exe",
        clock: any Clock<Duration>,
        retryDelay: RetryDelay = RetryDelay(first: 5, longest: 600, jitter: 0.2),
        logger: Logger
    ) {
        self.folder = SpeechFolder(path: folder)
        self.limit = limit
        self.renderer = renderer
        self.keeper = keeper
        self.clock = clock
        self.retryDelay = retryDelay
        self.logger = logger
    }

    /// Waits for a graceful shutdown or until the task is cancelled, then calls ``stop()``.
    package func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }

    /// Ends all programs and fails all callers with ``SpeechError/cancelled``. Only cached files are returned from now
    /// on.
    package func stop() async {
        isStopped = true
        (prepared, urgent) = ([], [])
        retry?.cancel()
        for id in waiters.keys { answer(id, .failure(.cancelled)) }
        let tasks = Array(lanes.values)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Begins to render `texts` ahead, in this order, and returns immediately.
    ///
    /// Replaces the texts of the previous call that have not begun. Cached texts are not rendered again but count as
    /// used. If the limit has no room for all, the first ones are kept.
    ///
    /// - Parameter texts: at most 1000; further ones and those that cannot be spoken are ignored.
    package func prepare(_ texts: [String]) {
        guard !isStopped else { return }
        (prepared, wanted, attempts) = ([], [], [:])
        if texts.count > SpeechLimits.preparedTexts {
            logger.warning("Rendering only the first \(SpeechLimits.preparedTexts) of \(texts.count) texts ahead")
        }
        for text in texts.prefix(SpeechLimits.preparedTexts) {
            do throws(SpeechError) {
                let item = try item(text)
                if wanted.insert(item.name).inserted { prepared.append(item) }
            } catch {
                logger.debug("Skipped a text: \(error)")
            }
        }
        usePrepared()
        start(.ahead)
    }

    /// Returns the path of a WAV file of `text`, which remains for at least a minute. A text that is not cached is
    /// rendered first.
    ///
    /// - Throws: ``SpeechError``. After ``SpeechError/late``, the rendering continues if it has begun, for the next
    ///   call.
    package func file(for text: String, before deadline: MonotonicTime) async throws(SpeechError) -> String {
        let item = try item(text)
        do {
            try load()
            if isCached(item.name) { return hold(item.name) }
            // Reported immediately, even during a pause: the remedy is known.
            _ = try renderer.find()
        } catch {
            noteFailure(error)
            throw error
        }
        guard !isStopped else { throw .cancelled }
        guard .now < deadline else { throw .late }
        // The program and the folder are there now, so a pause because one was missing is over.
        if let pause, .now < pause.end, case .failed = pause.error { throw pause.error }
        lastID += 1
        let id = lastID
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: item, id, $0, until: deadline) }
        } onCancel: {
            Task { await self.answer(id, .failure(.cancelled)) }
        }
        return try result.get()
    }

    // MARK: Callers

    private func item(_ text: String) throws(SpeechError) -> Item {
        let text = try SpeechText(text)
        return Item(text: text, name: renderer.fileName(for: text))
    }

    private func wait(
        for item: Item,
        _ id: Int,
        _ continuation: CheckedContinuation<Result<String, SpeechError>, Never>,
        until deadline: MonotonicTime
    ) {
        let timer = Task { [clock] in
            let delay = MonotonicTime.now.duration(to: deadline)
            if (try? await clock.sleep(for: delay)) != nil { answer(id, .failure(.late)) }
        }
        waiters[id] = Waiter(name: item.name, continuation: continuation, timer: timer)
        guard !isRendering(item.name), !urgent.contains(where: { $0.name == item.name }) else { return }
        urgent.append(item)
        start(.urgent)
    }

    private func answer(_ id: Int, _ result: Result<String, SpeechError>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        waiter.timer.cancel()
        waiter.continuation.resume(returning: result)
    }

    private func isWaitedFor(_ name: String) -> Bool { waiters.values.contains { $0.name == name } }

    private func hold(_ name: String) -> String {
        index.hold(name, until: .now + SpeechLimits.hold)
        return folder.path(of: name)
    }

    // MARK: Rendering

    private func isRendering(_ name: String) -> Bool { running.values.contains(name) }

    func start(_ lane: Lane) {
        guard lanes[lane] == nil, !isStopped else { return }
        lanes[lane] = Task { await work(lane) }
    }

    private func work(_ lane: Lane) async {
        while !isStopped, let item = lane == .urgent ? nextUrgent() : nextPrepared() {
            running[lane] = item.name
            let result = await render(item, lane)
            running[lane] = nil
            if case .failure = result, lane == .ahead { requeue(item) }
            for (id, waiter) in waiters where waiter.name == item.name {
                answer(id, result.map { hold($0) })
            }
        }
        lanes[lane] = nil
        if lane == .ahead { resumeAfterPause() }
    }

    /// Returns the next text that a caller still waits for.
    private func nextUrgent() -> Item? {
        while !urgent.isEmpty {
            let item = urgent.removeFirst()
            if isWaitedFor(item.name), !isRendering(item.name) { return item }
        }
        return nil
    }

    private func nextPrepared() -> Item? {
        if let pause, .now < pause.end { return nil }
        while !prepared.isEmpty {
            let item = prepared.removeFirst()
            if !isRendering(item.name), !isCached(item.name) { return item }
        }
        return nil
    }

    /// Renders a text and stores it.
    ///
    /// - Returns: the name of the file.
    private func render(_ item: Item, _ lane: Lane) async -> Result<String, SpeechError> {
        let run = RendererRun(
            renderer: renderer,
            keeper: keeper,
            clock: clock,
            niceness: lane == .ahead ? SpeechLimits.niceness : 0,
            logger: logger
        )
        do throws(SpeechError) {
            try load()
            let content = try await run.speech(for: item.text)
            guard makeRoom(for: content.count, isWaitedFor: lane == .urgent || isWaitedFor(item.name)) else {
                return .success(item.name)
            }
            try folder.write(content, to: item.name)
            index.add(item.name, size: content.count)
            noteSuccess()
            return .success(item.name)
        } catch {
            noteFailure(error)
            return .failure(error)
        }
    }

    private func requeue(_ item: Item) {
        guard !isStopped, wanted.contains(item.name) else { return }
        attempts[item.name, default: 0] += 1
        if attempts[item.name, default: 0] < SpeechLimits.attempts { prepared.append(item) }
    }

    private func resumeAfterPause() {
        guard let pause, !prepared.isEmpty, retry == nil, !isStopped else { return }
        retry = Task { [clock] in
            let delay = MonotonicTime.now.duration(to: pause.end)
            guard (try? await clock.sleep(for: delay)) != nil else { return }
            retry = nil
            start(.ahead)
        }
    }

    // MARK: Files

    /// Checks the folder. The first time, reads its content and applies the limit.
    private func load() throws(SpeechError) {
        try folder.make()
        guard !isLoaded else { return }
        isLoaded = true
        for file in folder.files() { index.add(file.name, size: file.size) }
        usePrepared()
        remove(index.excess(over: limit).names)
    }

    /// Marks the prepared texts as used. The first texts are wanted first, so they are removed last.
    private func usePrepared() {
        for item in prepared.reversed() { index.use(item.name) }
    }

    /// Whether the file `name` is in the folder and intact; it is then the most recently used one.
    private func isCached(_ name: String) -> Bool {
        guard let size = folder.use(name) else {
            index.remove(name)
            return false
        }
        index.add(name, size: size)
        return true
    }
}
