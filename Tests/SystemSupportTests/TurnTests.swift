import SystemSupport
import Testing

@Suite struct TurnTests {
    /// An actor whose jobs run on a thread of their own, with a section that awaits.
    private actor Account {
        private let executor = QueueExecutor("turn")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private let turn = Turn()
        private var isBusy = false
        private var visits = 0

        /// Returns the number of visits, or `nil` if another one was in the section.
        func visit() async -> Int? {
            await turn.begin()
            defer { turn.end() }
            guard !isBusy else { return nil }
            isBusy = true
            await Task.yield()
            isBusy = false
            visits += 1
            return visits
        }
    }

    @Test(.timeLimit(.minutes(2))) func `each caller gets its turn, and no two have it at a time`() async {
        let account = Account()
        let visits = await withTaskGroup(of: [Int?].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    var visits: [Int?] = []
                    for _ in 0..<500 { visits.append(await account.visit()) }
                    return visits
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(visits.compactMap(\.self).sorted() == Array(1...8000))
    }
}
