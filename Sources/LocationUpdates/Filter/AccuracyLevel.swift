package import BackgrounderAPI

/// The target and the accept limit of each level. See docs/behaviour.md, Gate.
///
/// A level accepts three times its target because the estimate itself is uncertain by a factor of two to four; a literal 10 m
/// gate starves ordinary receivers.
extension DesiredAccuracy {
    /// The accuracy that the level asks for, in metres.
    package var target: Double {
        switch self {
        case .bestForNavigation: 5
        case .best, .nearestTenMeters: 10
        case .hundredMeters: 100
        case .kilometer: 1000
        case .threeKilometers: 3000
        }
    }

    /// The accuracy up to which a fix is accepted, in metres. `nil` accepts every fix, even one of unknown accuracy.
    package var acceptLimit: Double? {
        switch self {
        case .threeKilometers: nil
        default: 3 * target
        }
    }

    /// How long a live source disconnects after a delivered fix; `nil` if it stays connected.
    package var rest: Duration? {
        switch self {
        case .kilometer: .seconds(120)
        case .threeKilometers: .seconds(300)
        default: nil
        }
    }

    /// Whether the level rejects 2D fixes.
    package var needsAltitude: Bool { self == .bestForNavigation }
}
