import ArgumentParser
import BackgrounderAPI
import LocationUpdates
import ReplayTools
import SystemSupport

/// A length in metres, or `none`.
struct MetresArgument {
    var metres: Double?

    @Sendable static func parse(_ text: String) throws -> MetresArgument {
        guard let metres = Metres.orNone(text.lowercased()) else {
            throw ValidationError("\(text.debugDescription) is not a valid distance; use 0 or more metres, or none")
        }
        return MetresArgument(metres: metres)
    }
}

/// A duration above 0.
struct DurationArgument {
    var duration: Duration

    @Sendable static func parse(_ text: String) throws -> DurationArgument {
        guard let duration = Durations.duration(text), duration > .zero else {
            throw ValidationError("\(text.debugDescription) is not a valid duration; use one such as 90s, 10m or 1h")
        }
        return DurationArgument(duration: duration)
    }
}

extension ReplayRate {
    @Sendable static func parse(_ text: String) throws -> ReplayRate {
        guard let rate = ReplayRate(text.lowercased()) else {
            throw ValidationError("\(text.debugDescription) is not a valid rate; use 0.001 to 1000000, or max")
        }
        return rate
    }
}

extension DesiredAccuracy: ExpressibleByArgument {
    /// Creates the level that `argument` names in upper or lower case.
    init?(argument: String) { self.init(ignoringCase: argument) }
}

extension ReplayFormat: ExpressibleByArgument {
    /// Creates the format that `argument` names in upper or lower case.
    init?(argument: String) { self.init(ignoringCase: argument) }
}
