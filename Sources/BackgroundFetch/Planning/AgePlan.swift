/// Chooses the slots at which the age of something begins anew, where it is looked at with a known rate.
///
/// The cost of leaving slots i..<j to one run, Σ rate(s) × min(age(s), cap), obeys the quadrangle inequality, as min(age, cap)
/// grows with the age: so the best place of the run before moves only forwards, and each further run costs n log n instead of
/// n² (F. F. Yao, Efficient dynamic programming using quadrangle inequalities, 1980). Prefix sums make a cost three look-ups.
struct AgePlan {
    /// Expected looks in each slot.
    let rates: [Double]
    let runs: Int
    /// Least slots between two runs.
    let spacing: Int
    /// Where the last run ended, in slots; at most 0 and usually negative. `nil` is long ago.
    let first: Double?
    /// Of costs that were computed: what a plan takes.
    private(set) var steps = 0

    private let looks: [Double]
    /// Σ rate × slot.
    private let moments: [Double]

    /// Minutes of a slot.
    private static let minutes = LocalTime.slot / 60

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

    /// The best slots at whose beginning runs should end, in order.
    mutating func ends(cap: Double) -> [Int] {
        let count = rates.count
        let earliest = max(1, first.map { Int(($0 + Double(spacing)).rounded(.up)) } ?? 1)
        guard earliest < count else { return [] }
        // costs[j]: of all slots before j, when a run ends at j.
        var costs = [Double](repeating: .infinity, count: count)
        for end in earliest..<count { costs[end] = initialCost(until: end, cap: cap) }
        var choices: [[Int]] = []
        var best = self.best(costs, from: earliest, cap: cap)
        // Where runs must keep apart, one more is not always better.
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

    /// Where the last run ends best.
    private func best(_ costs: [Double], from earliest: Int, cap: Double) -> (cost: Double, end: Int) {
        var best = (cost: Double.infinity, end: earliest)
        for end in earliest..<costs.count where costs[end] < .infinity {
            let cost = costs[end] + cost(end, costs.count, cap)
            if cost < best.cost { best = (cost, end) }
        }
        return best
    }

    /// The share of the expected looks that find something older than `minutes`.
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

    private struct Layer {
        let costs: [Double]
        var next: [Double]
        var choice: [Int]
        let cap: Double

        init(costs: [Double], next: [Double], cap: Double) {
            (self.costs, self.next, self.cap) = (costs, next, cap)
            choice = [Int](repeating: 0, count: next.count)
        }
    }

    /// The best place of the run before each of `ends`, which is known to lie in `low...high`.
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

    /// Of the slots `begin..<end` when a run ended at the beginning of `begin`.
    private func cost(_ begin: Int, _ end: Int, _ cap: Double) -> Double {
        cost(begin, end, since: Double(begin), cap)
    }

    /// Of the slots `begin..<end` when a run ended at `since`, not after `begin`.
    private func cost(_ begin: Int, _ end: Int, since: Double, _ cap: Double) -> Double {
        // Slots whose middle is younger than the cap.
        let young = Int(max(0, min(Double(end), (since + cap / Self.minutes).rounded(.down))))
        let middle = min(max(young, begin), end)
        let aging = moments[middle] - moments[begin] - (since - 0.5) * (looks[middle] - looks[begin])
        return aging * Self.minutes + cap * (looks[end] - looks[middle])
    }

    private func initialCost(until end: Int, cap: Double) -> Double {
        guard let first else { return cap * looks[end] }
        return cost(0, end, since: first, cap)
    }
}
