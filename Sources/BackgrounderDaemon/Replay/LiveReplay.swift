import BackgrounderAPI
import Glibc
import LocationUpdates

/// A live gpsd read without a service, until a signal or for a time, with a recording of what it says where one is wanted.
struct LiveReplay {
    var address: GPSDAddress
    var record: String?
    var span: Duration?

    /// - Returns: what stands in the way at the end; `nil` where gpsd answers.
    /// - Throws: ``RecordingError`` where the recording cannot begin, ``OutputError`` where stdout takes nothing.
    func read<Sink>(into run: inout ReplayRun<Sink>) async throws -> String? {
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
        var obstacle: String?
        var isWaiting = false
        try await run.read(live: feed) { item in
            switch item {
            case .disconnected(let reason):
                // Said once, however often it is tried.
                if !isWaiting { ReplayCommand.say("\(address) is not there: \(reason); waiting for it.") }
                isWaiting = true
                obstacle = reason
            case .connected: (isWaiting, obstacle) = (false, nil)
            case .silent: obstacle = "it is silent"
            case .noDevice: obstacle = "it has no receiver"
            case .devicePresent: obstacle = nil
            default: break
            }
        }
        withExtendedLifetime(signals) {}
        return obstacle
    }

    /// A recorder that says its end to `say`.
    static func recorder(
        _ path: String,
        say: @escaping @Sendable (String) -> Void
    ) throws(RecordingError) -> GPSDRecorder {
        try GPSDRecorder(path: path) { say(GPSDRecorder.describe($0, path: path)) }
    }
}
