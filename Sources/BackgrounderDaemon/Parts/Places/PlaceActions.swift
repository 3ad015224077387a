import AudioPlayback
import BackgroundFetch
import BackgroundTasks
import BackgrounderAPI
import Logging
import MediaFiles
import Places
import ServiceLifecycle
import Speech
import StateStore
import SystemSupport

/// Runs the actions of rules: announcements, speech, fetches and tasks. Stores what becomes of each, and publishes the events.
struct PlaceActions: Service {
    /// The parts of the service that do the work.
    struct Workers: Sendable {
        let player: QueuePlayer
        let speech: SpeechCache
        let fetch: FetchScheduler
        let tasks: BackgroundTaskScheduler
    }

    /// An event whose actions run, with the indices of those that have not ended.
    private struct Open: Sendable {
        var event: PlaceEvent
        var pending: Set<Int> = []

        /// The event without what is not known yet.
        var known: PlaceEvent {
            var known = event
            known.actions = event.actions.enumerated().filter { !pending.contains($0.offset) }.map(\.element)
            return known
        }
    }

    /// An action that takes longer than a moment.
    private struct Slow: Sendable {
        var action: DueAction
        var work: @Sendable () async -> (PlaceAction.Outcome, String?)
    }

    private enum Start {
        case ended(PlaceAction.Outcome, String?)
        case continues(@Sendable () async -> (PlaceAction.Outcome, String?))
    }

    private let workers: Workers
    private let store: StateStore
    /// The folder that relative paths of items start from.
    private let folder: String
    private let logger: Logger
    private let publish: @Sendable (PlaceEvent) -> Void
    private let rulings: AsyncStream<RuledEvents>
    private let inlet: AsyncStream<RuledEvents>.Continuation
    private let texts: AsyncStream<[String]>
    private let textInlet: AsyncStream<[String]>.Continuation

    /// - Parameter publish: called with each event once its actions have begun, and again with the same id when the last of
    ///   those that take longer has ended.
    init(
        _ workers: Workers,
        store: StateStore,
        folder: String,
        logger: Logger,
        publish: @escaping @Sendable (PlaceEvent) -> Void
    ) {
        self.workers = workers
        self.store = store
        self.folder = folder
        self.logger = logger
        self.publish = publish
        (rulings, inlet) = AsyncStream.makeStream()
        (texts, textInlet) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Runs what ``take(_:)`` receives until the graceful shutdown.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { for await texts in texts { await workers.speech.prepare(texts) } }
            await withGracefulShutdownHandler {
                for await ruling in rulings where !Task.isShuttingDownGracefully {
                    let (open, slow) = await begin(ruling)
                    if !slow.isEmpty { group.addTask { _ = await finish(open, slow) } }
                }
            } onGracefulShutdown: { [inlet] in
                inlet.finish()
            }
            group.cancelAll()
        }
    }

    /// Takes stored events, whose actions then start. Any thread; returns immediately.
    func take(_ ruling: RuledEvents) { inlet.yield(ruling) }

    /// Takes the texts that rules may speak soon, in place of earlier ones. Any thread; returns immediately.
    func prepare(_ texts: [String]) { textInlet.yield(texts) }

    /// Runs the actions of stored events to their end, and returns the events with the outcomes.
    func perform(_ ruling: RuledEvents) async -> [PlaceEvent] {
        let (open, slow) = await begin(ruling)
        return slow.isEmpty ? open.map(\.event) : await finish(open, slow)
    }

    // MARK: Order

    /// Starts all actions, in their order.
    private func begin(_ ruling: RuledEvents) async -> (open: [Open], slow: [Slow]) {
        for event in ruling.events { logRefusals(of: event) }
        var open = ruling.events.map { Open(event: $0) }
        var slow: [Slow] = []
        for action in ruling.due {
            switch await start(action) {
            case .ended(let outcome, let detail): note(outcome, detail, action, in: &open[action.occasion].event)
            case .continues(let work):
                open[action.occasion].pending.insert(action.action)
                slow.append(Slow(action: action, work: work))
            }
        }
        for index in Set(ruling.due.map(\.occasion)) { await save(open[index].event) }
        for event in open { publish(event.known) }
        return (open, slow)
    }

    /// Runs the actions that take longer at the same time.
    private func finish(_ open: [Open], _ slow: [Slow]) async -> [PlaceEvent] {
        var open = open
        await withTaskGroup { group in
            for item in slow { group.addTask { (item.action, await item.work()) } }
            for await (action, (outcome, detail)) in group {
                note(outcome, detail, action, in: &open[action.occasion].event)
                open[action.occasion].pending.remove(action.action)
                await save(open[action.occasion].event)
            }
        }
        for index in Set(slow.map(\.action.occasion)).sorted() { publish(open[index].event) }
        return open.map(\.event)
    }

    private func note(
        _ outcome: PlaceAction.Outcome,
        _ detail: String?,
        _ action: DueAction,
        in event: inout PlaceEvent
    ) {
        event.actions[action.action].outcome = outcome
        event.actions[action.action].detail = detail
        log(event.actions[action.action], at: event)
    }

    /// Logs the actions of a stored event that are not to start.
    private func logRefusals(of event: PlaceEvent) {
        for action in event.actions {
            switch action.outcome {
            case .expired, .refused: log(action, at: event)
            case .failed: if action.detail != PlaceRuling.unfinished { log(action, at: event) }
            case .fired, .cooldown, .once, .hours: break
            }
        }
    }

    private func log(_ action: PlaceAction, at event: PlaceEvent) {
        let line = "Rule \(action.rule) at \(event.place): \(action.kind.rawValue) \(action.outcome.rawValue)"
        let text = (line + (action.detail.map { ": \($0)" } ?? "")).withoutControlCharacters
        switch action.outcome {
        case .fired: logger.info("\(text)")
        default: logger.warning("\(text)")
        }
    }

    private func save(_ event: PlaceEvent) async {
        do {
            try await store.save(event.actions, ofEvent: event.id)
        } catch {
            logger.error("Cannot store what rules did at \(event.place.withoutControlCharacters): \(error)")
        }
    }

    // MARK: Work

    private func start(_ action: DueAction) async -> Start {
        guard !action.isExpired(at: .now) else { return .ended(.expired, "it would have come too late") }
        switch action.operation {
        case .announce(let item, let duck, let priority):
            let (outcome, detail) = await play(RuntimePaths.absolute(item, from: folder), duck, priority, action)
            return .ended(outcome, detail)
        case .say(let text, let duck, let priority):
            // Speech that was rendered ahead keeps its order.
            if let path = try? await workers.speech.file(for: text, before: .now) {
                let (outcome, detail) = await play(path, duck, priority, action)
                return .ended(outcome, detail)
            }
            return .continues { await say(text, duck, priority, action) }
        case .fetch(let source): return .continues { await fetch(source) }
        case .task(let hook, let place, let event, let sourceId):
            let variables = [
                "BACKGROUNDER_PLACE": place, "BACKGROUNDER_PLACE_EVENT": event.rawValue,
                "BACKGROUNDER_PLACE_SOURCE_ID": sourceId ?? "",
            ]
            do {
                let task = try await workers.tasks.runHook(hook, adding: variables)
                return .ended(.fired, "task \(task.id)")
            } catch TaskError.noSuchHook, TaskError.notForPlaces {
                return .ended(.failed, "no task hook \(hook) for places")
            } catch {
                return .ended(.failed, "\(error)")
            }
        }
    }

    private func say(_ text: String, _ duck: Double?, _ priority: Int, _ action: DueAction) async -> (
        PlaceAction.Outcome, String?
    ) {
        do throws(SpeechError) {
            let path = try await workers.speech.file(for: text, before: action.deadline ?? .now + .seconds(60))
            return await play(path, duck, priority, action)
        } catch {
            return (error == .late ? .expired : .failed, error.description)
        }
    }

    private func play(_ path: String, _ duck: Double?, _ priority: Int, _ action: DueAction) async -> (
        PlaceAction.Outcome, String?
    ) {
        do {
            _ = try await workers.player.interrupt(with: path, duck: duck, priority: priority, before: action.deadline)
            return (.fired, nil)
        } catch let error as PlayerError {
            return (.refused, error.description)
        } catch {
            return (.failed, "\(error)")
        }
    }

    private func fetch(_ source: String) async -> (PlaceAction.Outcome, String?) {
        do throws(FetchError) {
            let run = try await workers.fetch.run(source, .place)
            return (.fired, "run \(run.id)")
        } catch {
            switch error {
            case .off, .ended: return (.refused, error.description)
            default: return (.failed, error.description)
            }
        }
    }
}
