package import BackgrounderAPI

/// What each level asks for and accepts (BEHAVIOUR.md, Location, Gate).
///
/// A level accepts three times its target, since the estimate itself is uncertain by two to four times; a literal 10 m gate
/// starves ordinary receivers.
extension DesiredAccuracy {
    /// Metres that the level asks for.
    package var target: Double {
        switch self {
        case .bestForNavigation: 5
        case .best, .nearestTenMeters: 10
        case .hundredMeters: 100
        case .kilometer: 1000
        case .threeKilometers: 3000
        }
    }

    /// Metres up to which a fix is accepted; `nil` accepts every fix, also one of unknown accuracy.
    package var acceptLimit: Double? {
        switch self {
        case .threeKilometers: nil
        default: 3 * target
        }
    }

    /// How long a live source stays away after a delivered fix; `nil` reads on.
    package var rest: Duration? {
        switch self {
        case .kilometer: .seconds(120)
        case .threeKilometers: .seconds(300)
        default: nil
        }
    }

    /// Whether a fix without altitude is too coarse.
    package var needsAltitude: Bool { self == .bestForNavigation }
}
