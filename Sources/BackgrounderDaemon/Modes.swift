import AudioPlayback
import BackgrounderAPI
import LocationUpdates
import Synchronization

/// The declared modes, which continue while no client is attached.
final class Modes: Sendable {
    private let modes: Mutex<[BackgroundMode]>

    init(_ declared: [BackgroundMode]) {
        modes = Mutex(declared)
    }

    var declared: [BackgroundMode] {
        get { modes.withLock { $0 } }
        set { modes.withLock { $0 = newValue } }
    }

    /// Suspends the undeclared modes when the last client detached, and resumes them when a client attached.
    func apply(isAnyoneAttached: Bool, location: LocationManager, player: QueuePlayer) async {
        let declared = declared
        if isAnyoneAttached || declared.contains(.location) {
            await location.resume()
        } else {
            await location.suspend()
        }
        if isAnyoneAttached || declared.contains(.audio) { await player.resume() } else { await player.suspend() }
    }

    /// Checks that `mode` may work now.
    ///
    /// - Throws: a `conflict` if it is not declared and no client is attached.
    func require(_ mode: BackgroundMode, attached: Int) throws(WireError) {
        guard attached == 0, !declared.contains(mode) else { return }
        throw WireError(
            .conflict,
            "\(mode.rawValue) is not in modes; attach or declare it",
            hint: "add \(mode.rawValue) to modes in config.yaml"
        )
    }
}
