import FoundationEssentials

/// A recorder is stored with every point, so it is coded as the bytes of its numbers: as keys and decimals it would cost more than
/// everything else that is stored.
extension TripRecorder: Codable {
    /// A recorder that was stored in another layout is discarded, and the next point begins a new trip.
    private static let layout = 1.0

    /// Decodes a recorder; one of another layout becomes an empty one.
    package init(from decoder: any Decoder) throws {
        let data = try? decoder.singleValueContainer().decode(Data.self)
        self = (try? data.map { try TripRecorder(UnpackedNumbers($0)) }) ?? TripRecorder()
    }

    /// Encodes the recorder as bytes.
    package func encode(to encoder: any Encoder) throws {
        var numbers = PackedNumbers()
        pack(into: &numbers)
        var container = encoder.singleValueContainer()
        try container.encode(numbers.data)
    }

    private func pack(into numbers: inout PackedNumbers) {
        numbers.add(Self.layout)
        numbers.add(count)
        numbers.add(isChanged)
        switch phase {
        case nil: numbers.add(0)
        case .resting(let place):
            numbers.add(1)
            place.pack(into: &numbers)
        case .moving(let stay):
            numbers.add(2)
            stay.place.pack(into: &numbers)
            numbers.add(stay.since)
            stay.arrival.pack(into: &numbers)
            numbers.add(stay.isStanding)
        }
        numbers.add(last != nil)
        last?.pack(into: &numbers)
        let tallies = ended + (tally.map { [$0] } ?? [])
        numbers.add(tally != nil)
        numbers.add(tallies.count)
        for tally in tallies { tally.pack(into: &numbers) }
    }

    private init(_ numbers: UnpackedNumbers) throws {
        var numbers = numbers
        guard try numbers.next() == Self.layout else { throw UnpackedNumbers.Unknown() }
        self.init()
        count = try numbers.count()
        isChanged = try numbers.flag()
        switch try numbers.count() {
        case 0: phase = nil
        case 1: phase = .resting(around: try Place(&numbers))
        default:
            phase = .moving(
                Stay(
                    place: try Place(&numbers),
                    since: try numbers.next(),
                    arrival: try TripTally.Mark(&numbers),
                    isStanding: try numbers.flag()
                )
            )
        }
        if try numbers.flag() { last = try TripPoint(&numbers) }
        let hasTally = try numbers.flag()
        for _ in 0..<(try numbers.count()) { ended.append(try TripTally(&numbers)) }
        if hasTally { tally = ended.popLast() }
    }
}

extension Place {
    func pack(into numbers: inout PackedNumbers) {
        numbers.add(latitude)
        numbers.add(longitude)
    }

    init(_ numbers: inout UnpackedNumbers) throws {
        self.init(latitude: try numbers.next(), longitude: try numbers.next())
    }
}

extension TripPoint {
    func pack(into numbers: inout PackedNumbers) {
        place.pack(into: &numbers)
        numbers.add(time)
        numbers.add(speed)
        numbers.add(isConnected)
        numbers.add(ordinal)
    }

    init(_ numbers: inout UnpackedNumbers) throws {
        place = try Place(&numbers)
        time = try numbers.next()
        speed = try numbers.optional()
        isConnected = try numbers.flag()
        ordinal = try numbers.count()
    }
}
