import BackgrounderAPI
import Synchronization

/// Notifies the clients that wait in `idle` of changes, and passes messages between clients.
///
///     let hub = MPDHub()
///     hub.playerChanged()          // at each event of the player; the hub finds out what changed
///     hub.changed([.database])     // for changes outside of the player
///
/// Without clients an event only costs the check of a counter.
package actor MPDHub {
    private struct Client {
        var session: MPDSession
        var channels: Set<String> = []
        var messages: [(channel: String, text: String)] = []
    }

    private struct Calls {
        var clients = 0
        var isLookDue = false
    }

    /// Limits per client: channels, and messages that wait to be read. They are MPD's own (`client/Client.hxx`).
    private static let mostChannels = 16
    private static let mostMessages = 64

    private let calls = Mutex(Calls())
    private var player: (any MPDPlayer)?
    private var clients: [ObjectIdentifier: Client] = [:]
    private var last: MPDMoment?

    /// Creates a hub without clients.
    package init() {}

    /// Reports that something about the player changed. May be called from any thread; returns immediately.
    package nonisolated func playerChanged() {
        let begins = calls.withLock { calls in
            guard calls.clients > 0, !calls.isLookDue else { return false }
            calls.isLookDue = true
            return true
        }
        if begins { Task { await self.look() } }
    }

    /// Reports that `subsystems` changed. May be called from any thread; returns immediately.
    package nonisolated func changed(_ subsystems: MPDSubsystem) {
        guard calls.withLock({ $0.clients > 0 }) else { return }
        Task { await tell(subsystems) }
    }

    func tell(_ subsystems: MPDSubsystem) async {
        guard !subsystems.isEmpty else { return }
        for client in clients.values { await client.session.notify(subsystems) }
    }

    /// Compares the player's state with the last one, and notifies the clients of the differences.
    private func look() async {
        calls.withLock { $0.isLookDue = false }
        guard let player, let last else { return }
        let now = MPDMoment(await player.status())
        self.last = now
        await tell(now.changes(since: last))
    }

    // MARK: Clients

    /// Adds `session` to the clients that are notified of changes.
    func join(_ session: MPDSession, _ player: any MPDPlayer) async {
        self.player = player
        clients[ObjectIdentifier(session)] = Client(session: session)
        calls.withLock { $0.clients = clients.count }
        // Changes while no client was connected do not concern a new client.
        if clients.count == 1 || last == nil { last = MPDMoment(await player.status()) }
    }

    func leave(_ session: MPDSession) async {
        let client = clients.removeValue(forKey: ObjectIdentifier(session))
        calls.withLock { $0.clients = clients.count }
        if client?.channels.isEmpty == false { await tell(.subscription) }
    }

    // MARK: Messages

    var channels: [String] {
        Set(clients.values.flatMap(\.channels)).sorted()
    }

    func subscribe(_ session: MPDSession, to channel: String) async throws(MPDError) {
        guard !channel.isEmpty, channel.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "_-.:".utf8.contains($0) })
        else { throw MPDError(.argument, "invalid channel name") }
        let id = ObjectIdentifier(session)
        guard clients[id]?.channels.contains(channel) == false else {
            throw MPDError(.exists, "already subscribed to this channel")
        }
        guard clients[id]?.channels.count ?? 0 < Self.mostChannels else {
            throw MPDError(.exists, "subscription list is full")
        }
        clients[id]?.channels.insert(channel)
        await tell(.subscription)
    }

    func unsubscribe(_ session: MPDSession, from channel: String) async throws(MPDError) {
        guard clients[ObjectIdentifier(session)]?.channels.remove(channel) != nil else {
            throw MPDError(.noExist, "not subscribed to this channel")
        }
        await tell(.subscription)
    }

    func send(_ text: String, to channel: String) async throws(MPDError) {
        let readers = clients.filter { $0.value.channels.contains(channel) }
        guard !readers.isEmpty else { throw MPDError(.noExist, "nobody is subscribed to this channel") }
        for (id, client) in readers where client.messages.count < Self.mostMessages {
            clients[id]?.messages.append((channel, text))
            await client.session.notify(.message)
        }
    }

    func takeMessages(of session: MPDSession) -> [(channel: String, text: String)] {
        let id = ObjectIdentifier(session)
        defer { clients[id]?.messages = [] }
        return clients[id]?.messages ?? []
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}

/// The player's state at one moment, for finding the changes that clients are notified of.
struct MPDMoment {
    private let status: MPDPlayerStatus
    private let time = ContinuousClock.now

    init(_ status: MPDPlayerStatus) {
        self.status = status
    }

    func changes(since old: MPDMoment) -> MPDSubsystem {
        var changes: MPDSubsystem = []
        let (new, before) = (status.audio, old.status.audio)
        if status.queueVersion != old.status.queueVersion { changes.insert(.playlist) }
        if new.volume != before.volume { changes.insert(.mixer) }
        if (new.repeat, new.random, new.consume) != (before.repeat, before.random, before.consume)
            || new.single != before.single || new.replayGain != before.replayGain
        {
            changes.insert(.options)
        }
        if new.driver != before.driver || new.device != before.device || new.outputEnabled != before.outputEnabled {
            changes.insert(.output)
        }
        if new.timeControlStatus != before.timeControlStatus || new.currentItem?.id != before.currentItem?.id
            || new.lastError != before.lastError || isJump(since: old)
        {
            changes.insert(.player)
        }
        return changes
    }

    /// Returns whether the position in the item differs from where uninterrupted playback would be.
    private func isJump(since old: MPDMoment) -> Bool {
        guard let now = status.audio.elapsed, let before = old.status.audio.elapsed else { return false }
        let ran = old.status.audio.timeControlStatus == .playing ? (time - old.time) / .seconds(1) : 0
        // Tuned, in seconds: clocks differ slightly, and sound starts with a delay.
        return now < before - 0.01 || now > before + ran + 0.2 || (ran == 0 && abs(now - before) > 0.01)
    }
}
