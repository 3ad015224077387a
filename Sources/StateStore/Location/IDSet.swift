/// A set of ids, stored as ranges.
struct IDSet {
    /// Ascending, with gaps between them.
    private var ranges: [ClosedRange<Int64>] = []

    func contains(_ id: Int64) -> Bool {
        let index = firstIndex(endingAtOrAfter: id)
        return index < ranges.count && ranges[index].contains(id)
    }

    mutating func insert(_ range: ClosedRange<Int64>) {
        let first = firstIndex(endingAtOrAfter: range.lowerBound == .min ? .min : range.lowerBound - 1)
        var merged = range
        var end = first
        while end < ranges.count,
            ranges[end].lowerBound <= range.upperBound || ranges[end].lowerBound - 1 == range.upperBound
        {
            merged = min(merged.lowerBound, ranges[end].lowerBound)...max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(first..<end, with: [merged])
    }

    private func firstIndex(endingAtOrAfter id: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
