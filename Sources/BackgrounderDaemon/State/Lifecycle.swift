import BackgrounderAPI
import ControlServer
import FoundationEssentials
import Synchronization
import SystemSupport

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
    /// Serializes the calls to `onAttachment`.
    private let attachmentTurn = Turn()
    /// Serializes the updates, so that an older answer of the modes never replaces a newer one.
    private let updateTurn = Turn()
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

    /// Calls `body` with the attachment that the parts were told last. No other is told meanwhile.
    func withAttachment(_ body: (_ isAnyoneAttached: Bool) async -> Void) async {
        await attachmentTurn.begin()
        defer { attachmentTurn.end() }
        await body(toldAttachment)
    }

    /// Calls `onAttachment` serially, even if clients come and go during a call. When it returns, the parts know of the
    /// caller's client.
    private func tellAttachment() async {
        await attachmentTurn.begin()
        defer { attachmentTurn.end() }
        while toldAttachment == clients.isEmpty {
            toldAttachment = !clients.isEmpty
            await onAttachment(toldAttachment)
        }
    }

    /// Checks the modes again. Call it after a change in one of them.
    func update() async {
        await updateTurn.begin()
        defer { updateTurn.end() }
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
