package import BackgrounderAPI
import FoundationEssentials
import Logging
import SystemSupport

extension FetchScheduler {
    /// Fetches `name` now and returns the ended run. If a run is in progress already, waits for that one instead.
    ///
    /// Ignores the concurrency limits: a caller is waiting.
    ///
    /// - Throws: ``FetchError`` if there is no such source, the service is stopping, or the source is off and `trigger`
    ///   is not `manual`.
    package func run(_ name: String, _ trigger: FetchTrigger) async throws(FetchError) -> FetchRun {
        // The run of a removed source with the same name ends first.
        while let running = running[name], running.isRemoved { _ = await running.task.value }
        guard phase != .ending else { throw .ended }
        guard let source = sources[name] else { throw .noSuchSource(name) }
        switch trigger {
        case .manual: break
        case .due, .predicted, .ride, .push, .place, .simulate, .launch:
            if let why = FetchTiming.switchedOff(source.state, isOn: isOn) {
                throw .off(name, why: why.replacing("NAME", with: name))
            }
        }
        if let running = running[name] { return await running.task.value }
        waiting[name] = nil
        let task = start(name, trigger, isAutomatic: false)
        // The machine is awake: start the runs that may share this wakeup.
        wake(isRide: true)
        return await task.value
    }

    /// Starts a run and returns its task. When the task ends, the result is stored.
    @discardableResult
    func start(_ name: String, _ trigger: FetchTrigger, isAutomatic: Bool) -> Task<FetchRun, Never> {
        lastRun += 1
        let run = FetchRun(id: lastRun, source: name, trigger: trigger, began: now())
        let task = Task { await perform(run, isAutomatic: isAutomatic) }
        running[name] = Running(run: run, task: task, isAutomatic: isAutomatic)
        return task
    }

    private func perform(_ run: FetchRun, isAutomatic: Bool) async -> FetchRun {
        let name = run.source
        let elapsed = clock.stopwatch()
        var ended = run
        do {
            if let source = try await noteBegin(of: run, isAutomatic: isAutomatic) {
                onEvent(.run(run))
                let result = await fetch(source.definition, source.state.validators)
                ended = await exclusively { await conclude(run, result, elapsed) }
            } else {
                ended.end(at: now(), after: elapsed(), .removed)
            }
        } catch {
            ended.end(at: now(), after: elapsed(), FetchFailure("Couldn't save data: \(error)", kind: .cancelled))
            logger.error("\(name): Couldn't save data. \(error)")
            // Prevents an immediate retry.
            if !isRemoved(run) {
                sources[name]?.state.lastBegan = run.began
                sources[name]?.state.lastEnded = now()
            }
            log(ended)
        }
        // Before the end is reported, because clients read the next run then.
        if phase != .ending { await refreshPlans() }
        running[name] = nil
        onEvent(.run(ended))
        if phase != .ending {
            handDownloadsOver(name)
            wake()
        }
        return ended
    }

    /// Whether the source of `run` was removed. Another one may have its name now.
    private func isRemoved(_ run: FetchRun) -> Bool { running[run.source]?.isRemoved != false }

    /// Stores that `run` begins, before it does anything, and returns its source; `nil` if that was removed.
    private func noteBegin(of run: FetchRun, isAutomatic: Bool) async throws -> Source? {
        try await exclusively {
            guard !isRemoved(run), var source = sources[run.source] else { return nil }
            let isPlanned = isAutomatic && source.definition.interval == .minimum
            source.state.noteBegin(at: run.began, isPlanned: isPlanned)
            let untold = untold[run.source].map { [FetchChange.ended($0)] } ?? []
            try await journal.save(untold + [.began(run), try source.change()])
            self.untold[run.source] = nil
            adopt(source)
            return source
        }
    }

    /// The end of one of the tasks of a fetch.
    private enum Step: Sendable {
        case came(FetchReply)
        case failed(FetchFailure)
        /// The budget ends soon.
        case warning
        /// The budget is used up.
        case over
        /// A timer was cancelled.
        case nothing
    }

    /// Fetches `source` within its budget. When this returns, everything that the fetch started has ended.
    private func fetch(
        _ source: FetchDefinition,
        _ validators: FetchValidators?
    ) async -> Result<FetchReply, FetchFailure> {
        let warning = source.budget - FetchLimits.warning
        return await withTaskGroup(of: Step.self) { [clock, origin] group in
            group.addTask {
                do throws(FetchFailure) {
                    return .came(try await origin.fetch(source, validators: validators))
                } catch {
                    return .failed(error)
                }
            }
            let wait = { @Sendable (seconds: Double, step: Step) async -> Step in
                (try? await clock.sleep(for: .seconds(seconds))) == nil ? .nothing : step
            }
            group.addTask { warning > 0 ? await wait(warning, .warning) : await wait(source.budget, .over) }
            var result: Result<FetchReply, FetchFailure>?
            while let step = await group.next() {
                switch step {
                case .came(let reply): result = result ?? .success(reply)
                case .failed(let failure): result = result ?? .failure(failure)
                case .warning:
                    logger.warning("\(source.name): the fetch has \(Int(FetchLimits.warning)) seconds left.")
                    group.addTask { await wait(FetchLimits.warning, .over) }
                case .over:
                    let budget = Durations.text(.milliseconds((source.budget * 1000).rounded()))
                    let late = FetchFailure("the fetch exceeded its budget of \(budget) and was cancelled", kind: .late)
                    result = result ?? .failure(late)
                case .nothing: break
                }
                if result != nil { group.cancelAll() }
            }
            return result ?? .failure(FetchFailure("the fetch was cancelled", kind: .cancelled))
        }
    }

    /// Stores the content and the result of a run in one transaction, and logs the run.
    private func conclude(
        _ run: FetchRun,
        _ result: Result<FetchReply, FetchFailure>,
        _ elapsed: () -> Duration
    ) async -> FetchRun {
        var ended = run
        guard !isRemoved(run), var source = sources[run.source] else {
            ended.end(at: now(), after: elapsed(), .removed)
            return ended
        }
        var changes: [FetchChange] = []
        var failure: FetchFailure.Kind?
        do throws(FetchFailure) {
            let reply = try result.get()
            let news = try await read(reply, of: source)
            ended.end(at: now(), after: elapsed(), reply, news)
            let leftOut = source.state.noteSuccess(reply, news, at: ended.ended ?? now())
            if leftOut > 0 {
                logger.warning("\(run.source): Skipped \(leftOut) enclosures; too many are already waiting")
            }
            source.unseen += news.unseen
            if let content = news.content { changes.append(.content(run.source, content, seen: news.seen)) }
        } catch {
            ended.end(at: now(), after: elapsed(), error)
            source.state.noteFailure(error, at: ended.ended ?? now(), jitter: jitter)
            failure = error.kind
        }
        source.state.note(ended, failure, isPlanned: run.trigger == .predicted || run.trigger == .ride)
        source.isOverdue = false
        do {
            try await journal.save(changes + [.ended(ended), try source.change()])
            adopt(source)
        } catch {
            logger.error("\(run.source): Couldn't save data. \(error)")
            let reason = FetchFailure("Couldn't save data: \(error)", status: ended.status, bytes: ended.bytes)
            ended.end(at: ended.ended ?? now(), after: elapsed(), reason)
            // Nothing was stored, so the next run fetches all of it again, but not immediately.
            sources[run.source]?.state.lastEnded = ended.ended
            do {
                try await journal.save([.ended(ended)])
            } catch {
                untold[run.source] = ended
            }
        }
        log(ended)
        return ended
    }

    /// Logs the result and the duration of a run, and the reason if it failed.
    private func log(_ run: FetchRun) {
        for line in run.lines { logger.info("\(run.source): \(line)") }
        if let reason = run.reason { logger.warning("\(run.source): \(reason)") }
    }
}
