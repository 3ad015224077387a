import ArgumentParser
import BackgrounderAPI
import LocationUpdates

/// Metres from 0 on, or `none`.
struct MetresArgument: ExpressibleByArgument, CustomStringConvertible {
    var metres: Double?

    init?(argument: String) {
        guard let metres = Metres.orNone(argument) else { return nil }
        self.metres = metres
    }

    var description: String { metres.map { String($0) } ?? "none" }
}

/// A span of time above 0, as people write it.
struct DurationArgument: ExpressibleByArgument {
    var duration: Duration

    init?(argument: String) {
        guard let duration = Durations.duration(argument), duration > .zero else { return nil }
        self.duration = duration
    }
}

extension ReplayRate: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension DesiredAccuracy: ExpressibleByArgument {}
