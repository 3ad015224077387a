import BackgrounderAPI

/// All that a view knows of the service: the newest state with what happened since.
struct LiveState {
    private(set) var status: ServiceStatus?
    private(set) var track: [Location] = []
    private(set) var queue: [PlayerItem] = []

    mutating func apply(_ event: Event) {
        switch event {
        case .state(let state):
            (status, track, queue) = (state.status, state.track, state.queue)
        case .location(let location):
            track.append(location)
            track.removeFirst(max(0, track.count - 100))
            status?.location?.lastFix = location
            status?.location?.accepted += 1
            status?.location?.received += 1
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
        }
    }
}
