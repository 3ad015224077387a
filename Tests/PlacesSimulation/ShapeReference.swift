package import BackgrounderAPI
import Places

/// Random shapes, and what an independent program (Tests/Reference/places.py) says about them.
package struct ShapeReference: Sendable {
    /// The input of that program.
    package struct Task: Codable, Sendable {
        package var cases: [ShapeCase]
        package var rings: [[Coordinate]]
    }

    /// Its output.
    package struct Answers: Codable, Sendable {
        package struct Answer: Codable, Sendable {
            package var distances: [Double]
            /// The fractions at which each way enters and leaves the shape, in pairs.
            package var crossings: [[[Double]]]
            package var radius: Double
        }

        package var cases: [Answer]
        package var valid: [Bool]
    }

    /// The greatest differences, and how many answers differ by more than they may.
    package struct Comparison: Encodable, Sendable {
        package var distances = 0
        /// In metres, for positions up to 1 km from the boundary.
        package var nearError = 0.0
        /// Relative to the distance, for the others.
        package var farError = 0.0
        package var wrongSides = 0
        package var crossings = 0
        package var wrongCrossings = 0
        /// In metres.
        package var crossingError = 0.0
        /// Relative.
        package var radiusError = 0.0
        package var invalidRings = 0
        package var wrongRings = 0
        /// Shapes that were refused, and the boxes that miss a position inside.
        package var refused = 0
        package var wrongBounds = 0
        package var examples: [String] = []
    }

    package let task: Task

    /// Creates `count` shapes with 10 positions and one way each, and as many rings.
    package init(count: Int, seed: UInt64) {
        task = Task(
            cases: ShapeCases.random(count: count, seed: seed),
            rings: ShapeCases.randomRings(count: count, seed: seed + 1)
        )
    }

    /// Compares the shapes of this module with `answers`.
    package func compare(_ answers: Answers) -> Comparison {
        var result = Comparison()
        for (shapeCase, answer) in zip(task.cases, answers.cases) { Self.compare(shapeCase, answer, &result) }
        for (ring, isValid) in zip(task.rings, answers.valid) {
            let isAccepted = (try? Shape(.polygon(rings: [ring]))) != nil
            if !isAccepted { result.invalidRings += 1 }
            if isAccepted != isValid {
                result.wrongRings += 1
                if result.examples.count < 5 { result.examples.append("ring \(ring) is valid: \(isValid)") }
            }
        }
        return result
    }

    private static func compare(_ shapeCase: ShapeCase, _ answer: Answers.Answer, _ result: inout Comparison) {
        guard let shape = try? Shape(shapeCase.shape) else {
            result.refused += 1
            result.examples.append("refused \(shapeCase.shape)")
            return
        }
        for (coordinate, expected) in zip(shapeCase.positions, answer.distances) {
            guard let position = Position(coordinate) else { continue }
            let distance = shape.signedDistance(from: TangentPosition(position))
            result.distances += 1
            let error = abs(distance - expected)
            if abs(expected) > 1_000 {
                result.farError = max(result.farError, error / abs(expected))
            } else {
                result.nearError = max(result.nearError, error)
            }
            if (distance > 0) != (expected > 0), abs(expected) > 0.001 {
                result.wrongSides += 1
                if result.examples.count < 5 {
                    result.examples.append("\(distance) instead of \(expected) at \(coordinate) of \(shapeCase.shape)")
                }
            }
            if expected > 0, !shape.bounds.contains(coordinate) { result.wrongBounds += 1 }
        }
        for (way, expected) in zip(shapeCase.ways, answer.crossings) {
            compare(shape, way, expected, &result)
        }
        result.radiusError = max(result.radiusError, abs(shape.radius - answer.radius) / answer.radius)
    }

    private static func compare(_ shape: Shape, _ way: [Coordinate], _ pieces: [[Double]], _ result: inout Comparison) {
        guard let start = Position(way[0]), let end = Position(way[1]) else { return }
        let length = start.distance(to: end)
        if !pieces.isEmpty { result.crossings += 1 }
        /// Returns the difference to the end of the first piece that matches, in metres.
        func error(_ fraction: Double, _ pieces: [[Double]], _ end: Int) -> Double? {
            for piece in pieces {
                let error = abs(piece[end] - fraction) * length
                if error < 1 { return error }
                // A piece that is shorter than a step of the search may be missed.
                if (piece[1] - piece[0]) * length > max(0.5, length / 1_000) { return nil }
            }
            return nil
        }
        let isCorrect: Bool
        if let crossing = shape.crossing(from: start, to: end) {
            let entry = error(crossing.entry, pieces, 0)
            let exit = error(crossing.exit, pieces.reversed(), 1)
            isCorrect = entry != nil && exit != nil
            result.crossingError = max(result.crossingError, entry ?? 0, exit ?? 0)
        } else {
            isCorrect = pieces.allSatisfy { ($0[1] - $0[0]) * length <= max(0.5, length / 1_000) }
        }
        if !isCorrect {
            result.wrongCrossings += 1
            if result.examples.count < 5 { result.examples.append("\(pieces) over \(length) m") }
        }
    }
}

extension GeographicBounds {
    fileprivate func contains(_ coordinate: Coordinate) -> Bool {
        withoutAntimeridian.contains {
            ($0.minLatitude...$0.maxLatitude).contains(coordinate.latitude)
                && ($0.minLongitude...$0.maxLongitude).contains(coordinate.longitude)
        }
    }
}
