import Testing

/// A limit on the number of tests of the marked suites that run in parallel.
///
/// Each test runs several real programs, and some tests check their speed. A machine with two cores cannot sustain that
/// speed for all tests in parallel.
struct SeatsTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate enum Kind: Int, Comparable {
        case alone, long, short

        var seats: Int { self == .alone ? Seats.all : 1 }

        static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    fileprivate let kind: Kind

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        await Seats.shared.take(for: kind)
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        await Seats.shared.giveBack(kind.seats)
        try result.get()
    }
}

extension Trait where Self == SeatsTrait {
    /// Lets each test of the suite run in parallel with a few others.
    static var sharing: Self { Self(kind: .short) }

    /// Like ``sharing``, for tests of minutes: they start before the others, so that they do not run on when all others have ended.
    static var sharingLong: Self { Self(kind: .long) }

    /// Lets each test of the suite run only while no other test of a marked suite runs. These tests start first, because the others
    /// would have to wait for them while a long one ends.
    static var alone: Self { Self(kind: .alone) }
}

/// A counting semaphore. It serves waiting tests by kind, and those of a kind in order.
private actor Seats {
    static let shared = Seats()
    /// Tuned: more than the two cores, as the tests wait more than they work.
    static let all = 6

    private var free = all
    private var waiting: [(kind: SeatsTrait.Kind, seated: CheckedContinuation<Void, Never>)] = []

    func take(for kind: SeatsTrait.Kind) async {
        if waiting.isEmpty, free >= kind.seats {
            free -= kind.seats
        } else {
            await withCheckedContinuation { continuation in
                let place = waiting.firstIndex { $0.kind > kind } ?? waiting.count
                waiting.insert((kind, continuation), at: place)
            }
        }
    }

    func giveBack(_ count: Int) {
        free += count
        while let next = waiting.first, free >= next.kind.seats {
            waiting.removeFirst()
            free -= next.kind.seats
            next.seated.resume()
        }
    }
}
