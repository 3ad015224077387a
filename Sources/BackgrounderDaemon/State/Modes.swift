import BackgrounderAPI
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

    /// Returns whether `mode` may work now.
    func allow(_ mode: BackgroundMode, isAnyoneAttached: Bool) -> Bool {
        isAnyoneAttached || declared.contains(mode)
    }

    /// Checks that `mode` may work now.
    ///
    /// - Throws: a `conflict` if it is not declared and no client is attached.
    func require(_ mode: BackgroundMode, isAnyoneAttached: Bool) throws(WireError) {
        guard !allow(mode, isAnyoneAttached: isAnyoneAttached) else { return }
        throw WireError(
            .conflict,
            "\(mode.rawValue) is not in modes; attach or declare it",
            hint: "add \(mode.rawValue) to modes in config.yaml"
        )
    }
}
