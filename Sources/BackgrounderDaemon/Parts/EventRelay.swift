import BackgrounderAPI
import ControlServer
import LocationUpdates
import Synchronization

/// Passes the parts' events on to the event stream, the life cycle and the due fetches, which are created after the parts.
/// Earlier events are dropped, because nothing reads them yet. Any thread.
final class EventRelay: Sendable {
    private struct Receivers {
        var hub: EventHub
        var lifecycle: Lifecycle
        var observe: @Sendable ([PassedFix]) -> Void
        var ride: @Sendable () -> Void
        var publish: @Sendable (Location) -> Void
        var occurred: @Sendable (PlaceEvent) -> Void
        var stateChanged: @Sendable () -> Void
        var changed: @Sendable () -> Void
    }

    private let receivers = Mutex<Receivers?>(nil)

    /// The number of attached clients.
    var attached: Int { connected?.lifecycle.current.attached ?? 0 }

    private var connected: Receivers? { receivers.withLock { $0 } }

    /// Connects the receivers.
    ///
    /// - Parameters:
    ///   - observe: takes the fixes that passed the rules of the filter.
    ///   - ride: called when the machine is awake anyway, so that due fetches run now.
    ///   - publish: takes the newest of stored points.
    ///   - occurred: takes the events at places.
    ///   - stateChanged: called after each change that no event carries.
    ///   - changed: called after each event and other change.
    func connect(
        hub: EventHub,
        lifecycle: Lifecycle,
        observe: @escaping @Sendable ([PassedFix]) -> Void,
        ride: @escaping @Sendable () -> Void,
        publish: @escaping @Sendable (Location) -> Void,
        occurred: @escaping @Sendable (PlaceEvent) -> Void,
        stateChanged: @escaping @Sendable () -> Void,
        changed: @escaping @Sendable () -> Void
    ) {
        receivers.withLock {
            $0 = Receivers(
                hub: hub,
                lifecycle: lifecycle,
                observe: observe,
                ride: ride,
                publish: publish,
                occurred: occurred,
                stateChanged: stateChanged,
                changed: changed
            )
        }
    }

    /// Posts an event to the readers of the event stream.
    func post(_ event: Event) {
        guard let connected else { return }
        connected.hub.post(event)
        if case .place(let event) = event { connected.occurred(event) }
        connected.changed()
    }

    /// Posts one event per location, in order.
    func post(_ locations: [Location]) {
        guard let connected else { return }
        connected.hub.post(locations)
        if let newest = locations.last { connected.publish(newest) }
        connected.changed()
    }

    /// Passes fixes on to the places.
    func observe(_ fixes: [PassedFix]) { connected?.observe(fixes) }

    /// Runs the fetches that may run now, because the machine is awake anyway.
    func ride() { connected?.ride() }

    /// Reports a change that only the state shows.
    func stateChanged() {
        connected?.hub.stateChanged()
        connected?.stateChanged()
        connected?.changed()
    }

    /// Reports a change that no event carries, or the beginning or end of work.
    func workChanged() {
        guard let connected else { return }
        connected.hub.stateChanged()
        connected.stateChanged()
        connected.changed()
        if connected.lifecycle.current.attached == 0 { Task { await connected.lifecycle.update() } }
    }
}
