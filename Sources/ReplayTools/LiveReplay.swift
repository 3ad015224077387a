import Glibc
import LocationUpdates
import SystemSupport

/// Reads a live gpsd without a service, until a signal or for a given time, optionally recording it.
struct LiveReplay {
    var address: GPSDAddress
    var record: String?
    var span: Duration?
    var clock: any Clock<Duration>

    /// Reads until the end.
    ///
    /// - Returns: the obstacle at the end; `nil` if gpsd sends reports.
    /// - Throws: ``RecordingError`` if the recording cannot begin, ``OutputError`` if stdout cannot be written.
    func read<Sink>(into run: inout ReplayRun<Sink>) async throws -> String? {
        let recorder = try record.map { path throws(RecordingError) in
            let path = RuntimePaths.absolute(path)
            return try GPSDRecorder(path: path) { StandardError.writeLine(GPSDRecorder.describe($0, path: path)) }
        }
        let feed = try GPSDFeed(address, recorder: recorder)
        let signals = Signals([SIGINT, SIGTERM]) { _ in feed.stop() }
        let end = Task { [clock, span] in
            guard let span else { return }
            try await clock.sleep(for: span)
            feed.stop()
        }
        defer { end.cancel() }
        var obstacle: String?
        var isWaiting = false
        try await run.read(live: feed) { item in
            switch item {
            case .disconnected(let reason):
                // Printed once, not for each retry.
                if !isWaiting { StandardError.writeLine("Cannot connect to \(address): \(reason); retrying") }
                isWaiting = true
                obstacle = reason
            case .connected: (isWaiting, obstacle) = (false, nil)
            case .silent: obstacle = "gpsd is silent"
            case .noDevice: obstacle = "gpsd has no receiver"
            case .devicePresent: obstacle = nil
            default: break
            }
        }
        withExtendedLifetime(signals) {}
        return obstacle
    }
}
