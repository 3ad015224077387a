import ArgumentParser
import BackgrounderAPI
import LocationUpdates

/// Metres from 0 on, or `none`.
struct MetresArgument {
    var metres: Double?

    @Sendable static func parse(_ text: String) throws -> MetresArgument {
        guard let metres = Metres.orNone(text) else {
            throw ValidationError("\(text.debugDescription) is no length: give metres from 0 on, or none")
        }
        return MetresArgument(metres: metres)
    }
}

/// A span of time above 0, as people write it.
struct DurationArgument {
    var duration: Duration

    @Sendable static func parse(_ text: String) throws -> DurationArgument {
        guard let duration = Durations.duration(text), duration > .zero else {
            throw ValidationError("\(text.debugDescription) is no duration: give one above 0, such as 90s, 10m or 1h")
        }
        return DurationArgument(duration: duration)
    }
}

extension ReplayRate {
    @Sendable static func parse(_ text: String) throws -> ReplayRate {
        guard let rate = ReplayRate(text) else {
            throw ValidationError("\(text.debugDescription) is no rate: give 0.001 to 1000000, or max")
        }
        return rate
    }
}

extension DesiredAccuracy: ExpressibleByArgument {}
