import Glibc

/// Seeded random numbers (SplitMix64, https://prng.di.unimi.it/splitmix64.c), also normally distributed ones.
package struct Randomness: RandomNumberGenerator, Sendable {
    private var state: UInt64
    private var spare: Double?

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns a number from `range`, each equally likely.
    package mutating func uniform(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(next() >> 11) * 0x1p-53
    }

    /// Returns a number with mean 0 and standard deviation 1 (Marsaglia's polar method).
    package mutating func normal() -> Double {
        if let value = spare {
            spare = nil
            return value
        }
        while true {
            let (x, y) = (uniform(-1...1), uniform(-1...1))
            let squared = x * x + y * y
            guard squared < 1, squared > 0 else { continue }
            let factor = (-2 * log(squared) / squared).squareRoot()
            spare = y * factor
            return x * factor
        }
    }
}
