/// The delay before the next attempt, in seconds: it doubles from a first one to a longest one.
///
/// Each delay is shortened at random, so that many clients do not return to a server at the same time.
package struct RetryDelay: Sendable {
    private let first: Double
    private let longest: Double
    private let jitter: Double
    private var delay: Double

    /// Creates a delay that begins with `first`.
    ///
    /// - Parameters:
    ///   - first: seconds.
    ///   - longest: seconds.
    ///   - jitter: the greatest random part by which a delay is shortened, from 0 to 1.
    package init(first: Double, longest: Double, jitter: Double) {
        (self.first, self.longest, self.jitter, delay) = (first, longest, jitter, first)
    }

    /// Returns the next delay in seconds.
    ///
    /// - Parameter limit: the upper bound in seconds; the delay after this one is at most twice as long.
    package mutating func next(upTo limit: Double = .infinity) -> Double {
        let current = min(delay, limit)
        delay = min(2 * current, longest)
        return current * Double.random(in: 1 - jitter...1)
    }

    /// Begins with the first delay again.
    package mutating func reset() { delay = first }

    /// Continues with the longest delay.
    package mutating func extend() { delay = longest }
}
