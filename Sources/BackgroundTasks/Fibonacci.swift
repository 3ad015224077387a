import BigInt

/// The numbers of the sample: 1, 2, 3, 5, 8 … below 10^40, exact in every digit, then from the start again.
package struct Fibonacci: Hashable, Sendable {
    private static let limit = BigInt(10).power(40)

    private var previous = BigInt(1)
    private(set) var current = BigInt(1)
    /// The 1-based position.
    package private(set) var position = 1

    /// Creates the sequence at its first number.
    package init() {}

    /// Creates the sequence at `position`, or at the first number if there is no such position.
    package init(position: Int) {
        // The last is 192.
        guard (1...192).contains(position) else { return }
        while self.position < position { advance() }
    }

    /// Moves to the next number, or to the first one after the last.
    package mutating func advance() {
        let next = previous + current
        guard next < Self.limit else {
            self = Fibonacci()
            return
        }
        (previous, current) = (current, next)
        position += 1
    }
}

extension Fibonacci: CustomStringConvertible {
    package var description: String { "Position \(position) = \(current)" }
}
