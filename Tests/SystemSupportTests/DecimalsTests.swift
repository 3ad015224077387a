import Glibc
import SystemSupport
import TestSupport
import Testing

@Suite(.computing) struct DecimalsTests {
    @Test(
        arguments: [
            (0, 2, false, "0.00"), (5, 2, false, "5.00"), (15.9, 2, false, "15.90"), (255.94, 2, false, "255.94"),
            (37.33482105, 8, true, "+37.33482105"), (-122.03350886, 8, true, "-122.03350886"),
            (0, 8, true, "+0.00000000"),
            (0.125, 2, false, "0.12"), (0.375, 2, false, "0.38"), (1.115, 2, false, "1.11"), (1.005, 2, false, "1.00"),
            (2.5, 0, false, "2"), (3.5, 0, false, "4"), (9.995, 2, false, "9.99"), (99.999, 2, false, "100.00"),
            (0.001, 3, false, "0.001"),
            (1e15, 0, false, "1000000000000000"),
        ] as [(Double, Int, Bool, String)]
    )
    func `a number is written with the given number of places`(value: Double, places: Int, signed: Bool, text: String) {
        #expect(value.decimals(places, signed: signed) == text)
    }

    @Test func `a number that rounds to zero has no minus sign`() {
        #expect((-0.001).decimals(2) == "0.00")
        #expect((-0.001).decimals(2, signed: true) == "+0.00")
        #expect((-0.0).decimals(1) == "0.0")
    }

    @Test func `NaN and infinity are written as words`() {
        #expect(Double.nan.decimals(2) == "nan")
        #expect(Double.infinity.decimals(2) == "inf")
    }

    @Test(arguments: [0, 1, 2, 5, 8])
    func `20,000 random numbers, half of them ties, are written as printf writes them`(places: Int) {
        var generator = SeededGenerator(seed: UInt64(places) + 1)
        let step = pow(10, -Double(places)) / 2
        for round in 0..<20_000 {
            var value = Double.random(in: -100_000...100_000, using: &generator)
            if round.isMultiple(of: 2) { value = (value / step).rounded() * step }
            if round.isMultiple(of: 3) { value /= 1000 }
            let expected = Self.printf("%.*f", places, value)
            #expect(value.decimals(places) == expected, "\(value)")
            #expect(value.decimals(places, signed: true) == Self.printf("%+.*f", places, value))
        }
    }

    /// Returns the text of C's `printf`, without the minus sign of a zero.
    private static func printf(_ format: String, _ places: Int, _ value: Double) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        _ = withVaList([Int32(places), value]) { vsnprintf(&buffer, buffer.count, format, $0) }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("-"), text.allSatisfy({ "-0.".contains($0) }) else { return text }
        return (format.contains("+") ? "+" : "") + text.dropFirst()
    }
}
