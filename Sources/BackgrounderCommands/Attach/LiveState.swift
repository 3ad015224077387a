import BackgrounderAPI

/// The state of the service as a view knows it: the newest snapshot, updated by the events since.
struct LiveState {
    private(set) var status: ServiceStatus?
    private(set) var track: [Location] = []
    /// The items around the current one.
    private(set) var queue: [PlayerItem] = []
    /// The number of items in the whole queue.
    private(set) var queueLength = 0
    /// How many snapshots arrived.
    private(set) var snapshots = 0
    /// When each task was last reported. The view counts its budget down from there.
    private(set) var taskTimes: [Int: SuspendingClock.Instant] = [:]
    /// The newest finished run of each source.
    private(set) var lastRuns: [String: FetchRun] = [:]
    /// The newest tasks that ended since the view began, newest last; at most ``mostEnded``.
    private(set) var endedTasks: [BackgroundTask] = []
    private(set) var endedTransfers: [Transfer] = []
    /// The newest alert of a push.
    private(set) var alert: PushAlert?
    private(set) var log = LogLines()

    /// Tuned: enough to see what just ended, without crowding out open tasks and transfers.
    private static let mostEnded = 3

    /// Updates the state with an event.
    mutating func apply(_ event: Event, at now: SuspendingClock.Instant = .now) {
        switch event {
        case .state(let state):
            (status, track, queue) = (state.status, state.track, state.queue)
            queueLength = state.queueLength
            snapshots += 1
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
        case .place: break
        case .health(let health): status?.health = health
        }
    }

    /// Updates the counters and the trip, which the event of a point does not carry.
    mutating func apply(_ location: LocationStatus) {
        status?.location = location
    }

    mutating func append(_ log: Result<[LogRecord], CommandFailure>) {
        switch log {
        case .success(let records): self.log.append(records)
        case .failure(let failure): self.log.fail(failure.description)
        }
    }

    /// Whether the view changes with time alone, because a task's budget counts down.
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

    /// Inserts `value` into the open values or replaces the one with its id; if it is over, moves it to `ended`.
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
