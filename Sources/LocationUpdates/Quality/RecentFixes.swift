/// Counts the fixes of the last minute in constant memory.
struct RecentFixes {
    /// One count per second, indexed by the second modulo ``period``.
    private var counts = [Int](repeating: 0, count: Self.period)
    private var newest: Int?

    /// Seconds.
    static let period = 60

    var total: Int { counts.reduce(0, +) }

    /// Counts a fix at `instant`, in seconds of any clock. An instant before the newest one counts for the newest second.
    mutating func add(at instant: Double) {
        guard let second = Int(exactly: instant.rounded(.down)) else { return }
        if let newest, second > newest {
            let passed = second.subtractingReportingOverflow(newest)
            if passed.overflow || passed.partialValue >= counts.count {
                clear()
            } else {
                for gone in newest + 1...second { counts[index(gone)] = 0 }
            }
        }
        let current = max(second, newest ?? second)
        newest = current
        counts[index(current)] += 1
    }

    mutating func clear() {
        guard newest != nil else { return }
        for index in counts.indices { counts[index] = 0 }
        newest = nil
    }

    private func index(_ second: Int) -> Int {
        let remainder = second % counts.count
        return remainder < 0 ? remainder + counts.count : remainder
    }
}
