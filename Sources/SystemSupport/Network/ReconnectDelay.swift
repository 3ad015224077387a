/// The delay before the next attempt to reach a server on the network.
///
/// It doubles from 1 s to 30 s. While the server cannot be reached at all, it is at most 4 s for 5 minutes, so that the
/// connection is back soon after the link: such an attempt costs a packet, while one that the server has begun to answer may
/// cost it the work of a handshake. Each delay is shortened at random, so that many machines do not return together.
package struct ReconnectDelay: Sendable {
    /// Why an attempt, or the connection after it, failed.
    package enum Cause: Sendable {
        case unreachable
        case failed
        /// The server refused this client, which is unlikely to change soon.
        case refused
    }

    private enum Limits {
        static let first = 1.0
        static let longest = 30.0
        /// Tuned: with 10,000 machines, the p95 from the return of the link to the position is below 5 s.
        static let longestUnreachable = 4.0
        /// Tuned: longer than a tunnel, a restart or a dead zone in a town.
        static let soon = Duration.seconds(300)
        static let jitter = 0.75
    }

    private var delay = RetryDelay(first: Limits.first, longest: Limits.longest, jitter: Limits.jitter)
    /// When the first attempt failed.
    private var outage: MonotonicTime?

    /// Creates the delay of the first attempt.
    package init() {}

    /// Returns the delay after an attempt that failed at `time`.
    package mutating func next(after cause: Cause, at time: MonotonicTime) -> Duration {
        let outage = outage ?? time
        self.outage = outage
        switch cause {
        case .unreachable where outage.duration(to: time) < Limits.soon:
            return .seconds(delay.next(upTo: Limits.longestUnreachable))
        case .unreachable, .failed: return .seconds(delay.next())
        case .refused:
            delay.extend()
            return .seconds(delay.next())
        }
    }

    /// Begins with the first delay again.
    package mutating func reset() { self = ReconnectDelay() }
}
