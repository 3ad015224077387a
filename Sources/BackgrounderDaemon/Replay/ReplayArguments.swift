import ArgumentParser
import BackgrounderAPI
import LocationUpdates

/// A length in metres, or `none`.
struct MetresArgument {
    var metres: Double?

    @Sendable static func parse(_ text: String) throws -> MetresArgument {
        guard let metres = Metres.orNone(text) else {
            throw ValidationError("\(text.debugDescription) is not a valid length; use metres from 0, or none")
        }
        return MetresArgument(metres: metres)
    }
}

/// A duration above 0.
struct DurationArgument {
    var duration: Duration

    @Sendable static func parse(_ text: String) throws -> DurationArgument {
        guard let duration = Durations.duration(text), duration > .zero else {
            throw ValidationError("\(text.debugDescription) is not a valid duration; use 90s, 10m, 1h and the like")
        }
        return DurationArgument(duration: duration)
    }
}

extension ReplayRate {
    @Sendable static func parse(_ text: String) throws -> ReplayRate {
        guard let rate = ReplayRate(text) else {
            throw ValidationError("\(text.debugDescription) is not a valid rate; use 0.001 to 1000000, or max")
        }
        return rate
    }
}

extension DesiredAccuracy: ExpressibleByArgument {}
