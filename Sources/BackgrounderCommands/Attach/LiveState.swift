import BackgrounderAPI

/// All that a view knows of the service: the newest state with what happened since.
struct LiveState {
    private(set) var status: ServiceStatus?
    private(set) var track: [Location] = []
    private(set) var queue: [PlayerItem] = []
    /// When each task was as it says: what is left of a budget is counted on from there, where somebody looks.
    private(set) var taskTimes: [Int: SuspendingClock.Instant] = [:]
    /// The newest run of each source that is over.
    private(set) var lastRuns: [String: FetchRun] = [:]
    /// What is over since the view began, newest last; few.
    private(set) var endedTasks: [BackgroundTask] = []
    private(set) var endedTransfers: [Transfer] = []
    /// The newest of a push.
    private(set) var alert: PushAlert?

    /// judgement: of what is over
    private static let mostEnded = 3

    mutating func apply(_ event: Event, at now: SuspendingClock.Instant = .now) {
        switch event {
        case .state(let state):
            (status, track, queue) = (state.status, state.track, state.queue)
            taskTimes = [:]
            for task in state.status.tasks ?? [] { taskTimes[task.id] = now }
            let names = Set((state.status.fetch ?? []).map(\.name))
            lastRuns = lastRuns.filter { names.contains($0.key) }
        case .location(let location):
            track.append(location)
            track.removeFirst(max(0, track.count - 100))
            status?.location?.lastFix = location
            status?.location?.accepted += 1
            status?.location?.received += 1
            if status?.health?.state == .failing {
                status?.location?.waiting += 1
            } else {
                status?.location?.stored += 1
            }
            status?.location?.trackCount = track.count
        case .currentItem(let current):
            status?.audio?.currentItem = current.item
            status?.audio?.elapsed = current.item == nil ? nil : 0
        case .time(let time):
            guard status?.audio?.currentItem?.id == time.itemID else { return }
            status?.audio?.elapsed = time.elapsed
            status?.audio?.currentItem?.duration = time.duration
        case .lifecycle(let lifecycle):
            status?.state = lifecycle.state
            status?.attached = lifecycle.attached
        case .task(let task): apply(task, at: now)
        case .fetch(let run): apply(run)
        case .transfer(let transfer): apply(transfer)
        case .alert(let alert): self.alert = alert
        case .health(let health): status?.health = health
        }
    }

    /// Whether something of it changes by time alone.
    var isCounting: Bool {
        status?.tasks?.contains { $0.state.isOpen && $0.remaining != nil } == true
    }

    private mutating func apply(_ task: BackgroundTask, at now: SuspendingClock.Instant) {
        Self.put(task, isOpen: task.state.isOpen, into: &status, \.tasks, &endedTasks)
        taskTimes[task.id] = task.state.isOpen ? now : nil
    }

    private mutating func apply(_ transfer: Transfer) {
        Self.put(transfer, isOpen: !transfer.state.isOver, into: &status, \.transfers, &endedTransfers)
    }

    private mutating func apply(_ run: FetchRun) {
        if run.result != nil { lastRuns[run.source] = run }
        guard let index = status?.fetch?.firstIndex(where: { $0.name == run.source }) else { return }
        switch run.result {
        case nil: status?.fetch?[index].pending = PendingFetch(id: run.id, at: run.began)
        case .failed: status?.fetch?[index].failures += 1
        case .newData, .noData: status?.fetch?[index].failures = 0
        }
        if run.result != nil, status?.fetch?[index].pending?.id == run.id { status?.fetch?[index].pending = nil }
    }

    /// Puts `value` in the place of what has its id, or moves it to those that are over.
    private static func put<Value: Identified>(
        _ value: Value,
        isOpen: Bool,
        into status: inout ServiceStatus?,
        _ path: WritableKeyPath<ServiceStatus, [Value]?>,
        _ ended: inout [Value]
    ) {
        var open = status?[keyPath: path] ?? []
        ended.removeAll { $0.id == value.id }
        if isOpen {
            if let index = open.firstIndex(where: { $0.id == value.id }) {
                open[index] = value
            } else {
                open.append(value)
            }
        } else {
            open.removeAll { $0.id == value.id }
            ended = (ended + [value]).suffix(mostEnded)
        }
        status?[keyPath: path] = open
    }
}

private protocol Identified {
    var id: Int { get }
}

extension BackgroundTask: Identified {}
extension Transfer: Identified {}
