import Testing

/// How many tests of the marked suites run beside each other. A test holds several real programs, and some tests hold those to
/// their pace, which a machine of two cores cannot keep for all tests at once.
struct SeatsTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate let count: Int

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        await Seats.shared.take(count)
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        await Seats.shared.giveBack(count)
        try result.get()
    }
}

extension Trait where Self == SeatsTrait {
    /// Each test of the suite runs beside a few others.
    static var sharing: Self { Self(count: 1) }

    /// Each test of the suite runs when no other of the marked suites does.
    static var alone: Self { Self(count: Seats.all) }
}

/// Seats are given in the order in which they were asked for, so that nobody waits for ever.
private actor Seats {
    static let shared = Seats()
    static let all = 4  // judgement: they wait more than they work

    private var free = all
    private var waiting: [(count: Int, seated: CheckedContinuation<Void, Never>)] = []

    func take(_ count: Int) async {
        if waiting.isEmpty, free >= count {
            free -= count
        } else {
            await withCheckedContinuation { waiting.append((count, $0)) }
        }
    }

    func giveBack(_ count: Int) {
        free += count
        while let next = waiting.first, free >= next.count {
            waiting.removeFirst()
            free -= next.count
            next.seated.resume()
        }
    }
}
