package import Places

/// A way at given speeds, with stops.
package struct Drive: Sendable {
    /// A straight piece, or a stop if it has no length.
    private struct Piece {
        var start: GroundPoint
        var velocity: GroundPoint
        var seconds: Double
    }

    private var pieces: [Piece] = []
    private var end: GroundPoint

    /// Creates a way that begins at `start`.
    package init(from start: GroundPoint) { end = start }

    /// The whole time in seconds.
    package var seconds: Double { pieces.reduce(0) { $0 + $1.seconds } }

    /// Moves to `point` in a straight line.
    package mutating func move(to point: GroundPoint, speed: Double) {
        let (east, north) = (point.east - end.east, point.north - end.north)
        let length = (east * east + north * north).squareRoot()
        guard length > 0 else { return }
        pieces.append(
            Piece(
                start: end,
                velocity: GroundPoint(east / length * speed, north / length * speed),
                seconds: length / speed
            )
        )
        end = point
    }

    /// Stays at the end for some time.
    package mutating func stop(_ seconds: Double) {
        pieces.append(Piece(start: end, velocity: GroundPoint(0, 0), seconds: seconds))
    }

    /// Calls `body` with each fix of `receiver`, and the true position, every `interval` seconds.
    package func run(
        _ receiver: inout Receiver,
        every interval: Double = 1,
        from first: Double = 0,
        _ body: (_ time: Double, _ truth: GroundPoint, PlaceFix) -> Void
    ) {
        var time = first
        var begin = 0.0
        for piece in pieces {
            while time < begin + piece.seconds {
                let after = time - begin
                let truth = GroundPoint(
                    piece.start.east + after * piece.velocity.east,
                    piece.start.north + after * piece.velocity.north
                )
                body(time, truth, receiver.fix(at: time, truth, velocity: piece.velocity))
                time += interval
            }
            begin += piece.seconds
        }
    }
}
