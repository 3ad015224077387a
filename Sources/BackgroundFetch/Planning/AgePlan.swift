/// Chooses the slots in which runs should end, so that the content is as young as possible when it is opened.
///
/// A run that serves the slots i..<j costs Σ rate(s) × min(age(s), cap). This cost satisfies the quadrangle inequality,
/// because min(age, cap) grows with the age. So the best slot of the previous run moves only forwards, and each further
/// run takes O(n log n) instead of O(n²) (F. F. Yao, Efficient dynamic programming using quadrangle inequalities,
/// 1980). With prefix sums, a cost takes constant time.
struct AgePlan {
    /// Expected opens in each slot.
    let rates: [Double]
    /// The maximum number of runs.
    let runs: Int
    /// The minimum number of slots between the ends of two runs.
    let spacing: Int
    /// The end of the last run in slots, at most 0; `nil` if it was long ago.
    let first: Double?
    /// The number of costs computed, as a measure of the effort.
    private(set) var steps = 0

    /// Prefix sums of `rate`.
    private let looks: [Double]
    /// Prefix sums of `rate × slot`.
    private let moments: [Double]

    /// Minutes of a slot.
    private static let minutes = LocalTime.slot / 60

    /// - Parameters:
    ///   - seconds: the minimum distance between two ends.
    ///   - first: the end of the last run in slots, relative to the first slot.
    init(rates: [Double], runs: Int, spacing seconds: Double, first: Double?) {
        self.rates = rates
        spacing = max(1, Int(min(seconds / LocalTime.slot, Double(rates.count) + 1).rounded(.up)))
        self.runs = min(runs, rates.count / spacing + 1)
        self.first = first.map { min($0, 0) }
        var (looks, moments) = ([0.0], [0.0])
        for (slot, rate) in rates.enumerated() {
            looks.append(looks[slot] + rate)
            moments.append(moments[slot] + rate * Double(slot))
        }
        (self.looks, self.moments) = (looks, moments)
    }

    /// Returns the best ends of the runs in ascending order; a run ends at the start of its slot. An age above `cap`
    /// minutes costs no more than `cap`.
    mutating func ends(cap: Double) -> [Int] {
        let count = rates.count
        let earliest = max(1, first.map { Int(($0 + Double(spacing)).rounded(.up)) } ?? 1)
        guard earliest < count else { return [] }
        // costs[j]: the cost of all slots before j if a run ends at j.
        var costs = [Double](repeating: .infinity, count: count)
        for end in earliest..<count { costs[end] = initialCost(until: end, cap: cap) }
        var choices: [[Int]] = []
        var best = self.best(costs, from: earliest, cap: cap)
        // Because of the spacing, one more run is not always better.
        var bestCount = 0
        for run in 1..<max(runs, 1) {
            guard earliest + run * spacing < count else { break }
            var layer = Layer(costs: costs, next: [Double](repeating: .infinity, count: count), cap: cap)
            improve(&layer, earliest + run * spacing..<count, from: earliest + (run - 1) * spacing, to: count - 1)
            choices.append(layer.choice)
            costs = layer.next
            let last = self.best(costs, from: earliest, cap: cap)
            if last.cost <= best.cost { (best, bestCount) = (last, run) }
        }
        var ends = [best.end]
        for choice in choices[..<bestCount].reversed() { ends.append(choice[ends[ends.count - 1]]) }
        return ends.reversed()
    }

    /// Returns the best end of the last run, and the total cost.
    private func best(_ costs: [Double], from earliest: Int, cap: Double) -> (cost: Double, end: Int) {
        var best = (cost: Double.infinity, end: earliest)
        for end in earliest..<costs.count where costs[end] < .infinity {
            let cost = costs[end] + cost(end, costs.count, cap)
            if cost < best.cost { best = (cost, end) }
        }
        return best
    }

    /// Returns the share of the expected opens that find content older than `minutes`.
    func share(olderThan minutes: Double, _ ends: [Int]) -> Double {
        guard let total = looks.last, total > 0 else { return 0 }
        var (old, next, last) = (0.0, 0, first)
        for (slot, rate) in rates.enumerated() {
            while next < ends.count, ends[next] <= slot {
                last = Double(ends[next])
                next += 1
            }
            let age = last.map { (Double(slot) + 0.5 - $0) * Self.minutes } ?? .infinity
            if age > minutes { old += rate }
        }
        return old / total
    }

    /// One step of the dynamic programming: from plans with n runs to plans with n + 1.
    private struct Layer {
        /// By the end of the last run: the cost with n runs.
        let costs: [Double]
        /// By the end of the last run: the cost with n + 1 runs.
        var next: [Double]
        /// By the end of the last run: the best end of the run before it.
        var choice: [Int]
        let cap: Double

        init(costs: [Double], next: [Double], cap: Double) {
            (self.costs, self.next, self.cap) = (costs, next, cap)
            choice = [Int](repeating: 0, count: next.count)
        }
    }

    /// Computes the best previous run for each of `ends`; all of these lie in `low...high`.
    private mutating func improve(_ layer: inout Layer, _ ends: Range<Int>, from low: Int, to high: Int) {
        guard !ends.isEmpty else { return }
        let middle = ends.lowerBound + ends.count / 2
        var best = (cost: Double.infinity, place: low)
        let highest = min(high, middle - spacing)
        if low <= highest {
            for place in low...highest where layer.costs[place] < .infinity {
                let cost = layer.costs[place] + self.cost(place, middle, layer.cap)
                if cost < best.cost { best = (cost, place) }
            }
            steps += highest - low + 1
        }
        layer.next[middle] = best.cost
        layer.choice[middle] = best.place
        improve(&layer, ends.lowerBound..<middle, from: low, to: best.place)
        improve(&layer, middle + 1..<ends.upperBound, from: best.place, to: high)
    }

    /// Returns the cost of the slots `begin..<end` if a run ended at the start of `begin`.
    private func cost(_ begin: Int, _ end: Int, _ cap: Double) -> Double {
        cost(begin, end, since: Double(begin), cap)
    }

    /// Returns the cost of the slots `begin..<end` if a run ended at `since`, at the latest at the start of `begin`.
    private func cost(_ begin: Int, _ end: Int, since: Double, _ cap: Double) -> Double {
        // The first slot with a middle older than the cap.
        let young = Int(max(0, min(Double(end), (since + cap / Self.minutes).rounded(.down))))
        let middle = min(max(young, begin), end)
        let aging = moments[middle] - moments[begin] - (since - 0.5) * (looks[middle] - looks[begin])
        return aging * Self.minutes + cap * (looks[end] - looks[middle])
    }

    /// Returns the cost of the slots before `end`, the end of the first run.
    private func initialCost(until end: Int, cap: Double) -> Double {
        guard let first else { return cap * looks[end] }
        return cost(0, end, since: first, cap)
    }
}
