/// The distance of a trip in equal spans of time, whose length doubles as the trip grows.
struct SpeedSpans: Hashable, Sendable {
    static let limit = 32
    private var length = 1.0
    private var duration = 0.0
    private var distance = 0.0
    /// Metres in each span, without trailing zeros.
    private var metres: [Double] = []

    /// Extends the trip to `duration` seconds and `distance` metres since its start, spreading the new distance evenly over the
    /// new time.
    mutating func extend(to duration: Double, distance: Double) {
        let (begin, added) = (self.duration, distance - self.distance)
        (self.duration, self.distance) = (duration, distance)
        while duration > length * Double(Self.limit) { double() }
        guard added > 0 else { return }
        var moment = begin
        for span in min(Int(begin / length), Self.limit - 1)..<Self.limit {
            while metres.count <= span { metres.append(0) }
            let next = min(duration, Double(span + 1) * length)
            metres[span] += duration > begin ? added * (next - moment) / (duration - begin) : added
            if next >= duration { return }
            moment = next
        }
    }

    private mutating func double() {
        for index in 0..<(metres.count + 1) / 2 {
            metres[index] = metres[2 * index] + (2 * index + 1 < metres.count ? metres[2 * index + 1] : 0)
        }
        metres.removeLast(metres.count / 2)
        length *= 2
    }

    /// The speed of each span in metres per second, rounded to centimetres; the last span may be shorter than the others.
    var speeds: [Double] {
        (0..<min(Self.limit, Int((duration / length).rounded(.up)))).map { span in
            let seconds = min(length, duration - Double(span) * length)
            let speed = span < metres.count && seconds > 0 ? metres[span] / seconds : 0
            return (speed * 100).rounded() / 100
        }
    }
}

extension SpeedSpans {
    func pack(into numbers: inout PackedNumbers) {
        for number in [length, duration, distance] { numbers.add(number) }
        numbers.add(metres.count)
        for number in metres { numbers.add(number) }
    }

    init(_ numbers: inout UnpackedNumbers) throws {
        length = try numbers.next()
        duration = try numbers.next()
        distance = try numbers.next()
        metres = []
        for _ in 0..<(try numbers.count()) { metres.append(try numbers.next()) }
    }
}
