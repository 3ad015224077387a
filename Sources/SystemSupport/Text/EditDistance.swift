extension String {
    /// Returns how many letters must be inserted, deleted, replaced or exchanged with their neighbour to make `other` (optimal string
    /// alignment). Takes time in proportion to the product of the lengths.
    package func editDistance(to other: String) -> Int {
        let (from, to) = (Array(self), Array(other))
        var older: [Int] = []
        var last = Array(0...to.count)
        for row in 0..<from.count {
            var line = [row + 1]
            for column in 0..<to.count {
                var least = min(last[column + 1] + 1, line[column] + 1)
                least = min(least, last[column] + (from[row] == to[column] ? 0 : 1))
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    least = min(least, older[column - 1] + 1)
                }
                line.append(least)
            }
            (older, last) = (last, line)
        }
        return last[to.count]
    }
}
