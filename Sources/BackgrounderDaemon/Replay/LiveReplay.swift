import BackgrounderAPI
import Glibc
import LocationUpdates

/// A live gpsd read without a service, until a signal or for a time, with a recording of what it says where one is wanted.
struct LiveReplay {
    var address: GPSDAddress
    var record: String?
    var span: Duration?

    /// - Throws: ``RecordingError`` where the recording cannot begin, ``OutputError`` where stdout takes nothing.
    func read<Sink>(into run: inout ReplayRun<Sink>) async throws {
        let recorder = try record.map { path throws(RecordingError) in
            try Self.recorder(RuntimePaths.absolute(path)) { ReplayCommand.say($0) }
        }
        let feed = try GPSDFeed(address, recorder: recorder)
        let signals = Signals([SIGINT, SIGTERM]) { _ in feed.stop() }
        let end = Task {
            guard let span else { return }
            try await EventLoopClock.shared.sleep(for: span)
            feed.stop()
        }
        defer { end.cancel() }
        var isWaiting = false
        try await run.read(live: feed) { item in
            switch item {
            case .disconnected(let reason):
                // Said once, however often it is tried.
                if !isWaiting { ReplayCommand.say("\(address) is not there: \(reason); waiting for it.") }
                isWaiting = true
            case .connected: isWaiting = false
            case .silent: ReplayCommand.say("\(address) is silent.")
            case .noDevice: ReplayCommand.say("\(address) has no receiver.")
            default: break
            }
        }
        withExtendedLifetime(signals) {}
    }

    /// A recorder that says its end to `say`.
    static func recorder(
        _ path: String,
        say: @escaping @Sendable (String) -> Void
    ) throws(RecordingError) -> GPSDRecorder {
        try GPSDRecorder(path: path) { say(GPSDRecorder.describe($0, path: path)) }
    }
}
