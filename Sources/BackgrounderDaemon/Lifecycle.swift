import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization

/// The state of the service, like UIKit's state of an app. It depends on the attached clients and on whether a mode is at work.
///
/// Any thread can read the state immediately; changes are serialised by the actor.
actor Lifecycle: Attachments {
    struct State: Sendable {
        var state = ApplicationState.suspended
        var since = Date()
        var attached = 0
    }

    private struct Client {
        var isStalled = false
    }

    private let shared = Mutex(State())
    private var clients: [Int: Client] = [:]
    private var lastID = 0
    private var toldAttachment = false
    private var isTelling = false
    private let isWorking: @Sendable () async -> Bool
    private let onAttachment: @Sendable (_ isAnyoneAttached: Bool) async -> Void
    private let onChange: @Sendable (State) -> Void

    /// - Parameters:
    ///   - isWorking: whether a mode has work in hand.
    ///   - onAttachment: called when the first client attaches, before it sees anything, and when the last one detaches.
    ///   - onChange: called after each change of the state or of the number of clients.
    init(
        isWorking: @escaping @Sendable () async -> Bool,
        onAttachment: @escaping @Sendable (Bool) async -> Void,
        onChange: @escaping @Sendable (State) -> Void
    ) {
        self.isWorking = isWorking
        self.onAttachment = onAttachment
        self.onChange = onChange
    }

    nonisolated var current: State { shared.withLock { $0 } }

    func attached() async -> Int {
        lastID += 1
        let id = lastID
        clients[id] = Client()
        await tellAttachment()
        await update()
        return id
    }

    func stalled(_ id: Int, _ isStalled: Bool) async {
        clients[id]?.isStalled = isStalled
        await update()
    }

    func detached(_ id: Int) async {
        clients[id] = nil
        await tellAttachment()
        await update()
    }

    /// Calls `onAttachment` serially, even if clients come and go during a call, so that the last call is right.
    private func tellAttachment() async {
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while toldAttachment == clients.isEmpty {
            toldAttachment = !clients.isEmpty
            await onAttachment(toldAttachment)
        }
    }

    /// Checks the modes again. Call it after a change in one of them.
    func update() async {
        let isWorking = clients.isEmpty ? await isWorking() : false
        let state: ApplicationState =
            switch clients.values.count(where: { !$0.isStalled }) {
            case 1...: .active
            case 0 where !clients.isEmpty: .inactive
            default: isWorking ? .background : .suspended
            }
        let changed: State? = shared.withLock { shared in
            guard shared.state != state || shared.attached != clients.count else { return nil }
            if shared.state != state { (shared.state, shared.since) = (state, Date()) }
            shared.attached = clients.count
            return shared
        }
        if let changed { onChange(changed) }
    }
}
