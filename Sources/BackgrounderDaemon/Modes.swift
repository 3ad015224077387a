import AudioPlayback
import BackgrounderAPI
import LocationUpdates
import Synchronization

/// Which modes may go on while nobody is attached.
final class Modes: Sendable {
    private let modes: Mutex<[BackgroundMode]>

    init(_ declared: [BackgroundMode]) {
        modes = Mutex(declared)
    }

    var declared: [BackgroundMode] {
        get { modes.withLock { $0 } }
        set { modes.withLock { $0 = newValue } }
    }

    /// Suspends the undeclared modes when the last client left, and brings them back when one attached.
    func apply(isAnyoneAttached: Bool, location: LocationManager, player: QueuePlayer) async {
        let declared = declared
        if isAnyoneAttached || declared.contains(.location) {
            await location.resume()
        } else {
            await location.suspend()
        }
        if isAnyoneAttached || declared.contains(.audio) { await player.resume() } else { await player.suspend() }
    }

    /// - Throws: `conflict` when `mode` may not do anything now.
    func require(_ mode: BackgroundMode, attached: Int) throws(WireError) {
        guard attached == 0, !declared.contains(mode) else { return }
        throw WireError(
            .conflict,
            "\(mode.rawValue) is not in modes; attach or declare it",
            hint: "modes: [\(mode.rawValue)] in config.yaml declares it"
        )
    }
}
