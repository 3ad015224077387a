package import FoundationEssentials

extension Date {
    /// 2025-01-01T00:00:00Z. A clock that shows an earlier time was never set.
    package static let earliestOfSetClock = Date(timeIntervalSince1970: 1_735_689_600)
}
