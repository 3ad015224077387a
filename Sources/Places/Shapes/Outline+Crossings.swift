extension Outline {
    /// Checks that no two edges of the rings cross or overlap, and that no ring touches itself.
    ///
    /// Two rings may touch at single points, as a hole may touch the ring around it. The work is bounded.
    func checkCrossings() throws(ShapeError) {
        let order = blocks.indices.sorted { blocks[$0].box.minX < blocks[$1].box.minX }
        var comparisons = 0
        for (rank, first) in order.enumerated() {
            let block = blocks[first]
            try check(block, block, &comparisons)
            for second in order[(rank + 1)...] {
                let other = blocks[second]
                guard other.box.minX <= block.box.maxX else { break }
                if block.box.meets(other.box) { try check(block, other, &comparisons) }
            }
        }
    }

    private func check(_ first: Block, _ second: Block, _ comparisons: inout Int) throws(ShapeError) {
        let isSame = first == second
        for a in first.edges {
            let box = PlaneBox([points[a], points[a + 1]])
            guard box.meets(second.box) else { continue }
            comparisons += second.edges.count
            guard comparisons <= ShapeLimits.comparisons else { throw .tooManyNeighbours }
            for b in isSame ? a + 1..<second.edges.upperBound : second.edges where meet(a, first.part, b, second.part) {
                let near = Position(towards: plane.vector(to: points[b])).coordinate
                throw .crossing(
                    ring: min(first.part, second.part) + 1,
                    otherRing: max(first.part, second.part) + 1,
                    near: near
                )
            }
        }
    }

    /// Returns whether the edges that begin at the points `a` and `b` meet where they must not.
    private func meet(_ a: Int, _ ringOfA: Int, _ b: Int, _ ringOfB: Int) -> Bool {
        let (a0, a1, b0, b1) = (points[a], points[a + 1], points[b], points[b + 1])
        guard min(a0.x, a1.x) <= max(b0.x, b1.x), min(b0.x, b1.x) <= max(a0.x, a1.x),
            min(a0.y, a1.y) <= max(b0.y, b1.y), min(b0.y, b1.y) <= max(a0.y, a1.y)
        else { return false }
        let (b0Side, b1Side) = (side(b0, of: a0, a1), side(b1, of: a0, a1))
        let (a0Side, a1Side) = (side(a0, of: b0, b1), side(a1, of: b0, b1))
        if b0Side * b1Side > 0 || a0Side * a1Side > 0 { return false }
        if b0Side * b1Side < 0, a0Side * a1Side < 0 { return true }
        if b0Side == 0, b1Side == 0 {
            return overlap(a0, a1, b0, b1) || ringOfA == ringOfB && !shareEnd(a0, a1, b0, b1)
        }
        guard ringOfA == ringOfB else {
            return crossesAtPoint(b, ringOfB, a, ringOfA) || crossesAtPoint(a, ringOfA, b, ringOfB)
        }
        let ring = parts[ringOfA]
        // Neighbours share a point, and so do the last and the first edge.
        let areNeighbours = abs(a - b) == 1 || abs(a - b) == ring.count - 2
        return !areNeighbours
    }

    /// Returns 1 if `point` is to the left of the line from `a` to `b`, -1 to its right, and 0 on it.
    private func side(_ point: PlanePoint, of a: PlanePoint, _ b: PlanePoint) -> Double {
        let product = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)
        return product > 0 ? 1 : product < 0 ? -1 : 0
    }

    /// Returns whether two edges on one line have more than a point in common.
    private func overlap(_ a0: PlanePoint, _ a1: PlanePoint, _ b0: PlanePoint, _ b1: PlanePoint) -> Bool {
        let isSteep = abs(a1.y - a0.y) > abs(a1.x - a0.x)
        func range(_ from: PlanePoint, _ to: PlanePoint) -> (Double, Double) {
            isSteep ? (min(from.y, to.y), max(from.y, to.y)) : (min(from.x, to.x), max(from.x, to.x))
        }
        let (a, b) = (range(a0, a1), range(b0, b1))
        return max(a.0, b.0) < min(a.1, b.1)
    }

    private func shareEnd(_ a0: PlanePoint, _ a1: PlanePoint, _ b0: PlanePoint, _ b1: PlanePoint) -> Bool {
        a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1
    }

    /// Returns whether a ring that has its point `vertex` on the edge of another ring changes sides there.
    ///
    /// The end of that edge belongs to the next one, so each touch is judged a single time.
    private func crossesAtPoint(_ vertex: Int, _ ring: Int, _ edge: Int, _ edgeRing: Int) -> Bool {
        let point = points[vertex]
        guard side(point, of: points[edge], points[edge + 1]) == 0, point != points[edge + 1],
            PlaneBox([points[edge], points[edge + 1]]).squaredDistance(to: point) == 0
        else { return false }
        let isCorner = point == points[edge]
        let from = isCorner ? points[previous(edge, edgeRing)] : points[edge]
        let to = points[edge + 1]
        func isLeft(_ other: PlanePoint) -> Bool {
            let isConvex = side(to, of: from, point) >= 0
            let (first, second) = (side(other, of: from, point) > 0, side(other, of: point, to) > 0)
            return isConvex ? first && second : first || second
        }
        return isLeft(points[previous(vertex, ring)]) != isLeft(points[vertex + 1])
    }

    /// Returns the point before `index`, which is not the last of its ring.
    private func previous(_ index: Int, _ ring: Int) -> Int {
        index == parts[ring].lowerBound ? parts[ring].upperBound - 2 : index - 1
    }
}
