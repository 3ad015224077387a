import BackgroundTasks
import Testing

@Suite struct FibonacciTests {
    @Test func `the numbers are exact in every digit and start over at 10^40`() {
        var numbers = Fibonacci()
        var texts = ["\(numbers)"]
        for _ in 0..<192 {
            numbers.advance()
            texts.append("\(numbers)")
        }
        #expect(texts[..<4] == ["Position 1 = 1", "Position 2 = 2", "Position 3 = 3", "Position 4 = 5"])
        #expect(texts[41] == "Position 42 = 433494437")
        #expect(texts[191] == "Position 192 = 9663391306290450775010025392525829059713")
        #expect(texts[192] == "Position 1 = 1")
        // Each number is the sum of the previous two, digit by digit.
        let digits = texts[..<192].map { $0.split(separator: " ").last.map(String.init) ?? "" }
        for index in 2..<192 { #expect(Self.sum(digits[index - 1], digits[index - 2]) == digits[index]) }
        #expect(digits.allSatisfy { $0.count <= 40 })
        #expect(Self.sum(digits[191], digits[190]).count == 41)
    }

    @Test(arguments: [(1, 1), (42, 42), (192, 192), (193, 1), (0, 1), (-5, 1), (Int.max, 1)])
    func `counting continues at a valid position and starts over at any other`(position: Int, expected: Int) {
        #expect(Fibonacci(position: position).position == expected)
    }

    /// Adds two decimal numbers digit by digit.
    private static func sum(_ left: String, _ right: String) -> String {
        var (a, b) = (left.compactMap(\.wholeNumberValue), right.compactMap(\.wholeNumberValue))
        var (result, carry) = ("", 0)
        while !a.isEmpty || !b.isEmpty || carry > 0 {
            carry += (a.popLast() ?? 0) + (b.popLast() ?? 0)
            result = "\(carry % 10)" + result
            carry /= 10
        }
        return result
    }
}
