import BackgrounderAPI

/// The coordinates of a GeoJSON geometry, whose type may follow them.
struct GeoJSONCoordinates {
    /// 1 for a position, 2 for a list of positions, 3 for a list of rings, 4 for a list of polygons.
    private(set) var levels = 0
    /// The positions of all lists.
    private var positions: [Coordinate] = []
    /// For each list of positions, the index after its last one.
    private var ends: [Int] = []
    /// For each polygon, the number of rings up to its last one.
    private var polygonEnds: [Int] = []

    /// Reads the nested arrays that follow, and counts their positions in `collector`.
    init(_ json: inout JSONReader, _ collector: inout PlaceCollector) throws(ImportFault) {
        levels = try read(&json, &collector, depth: 1)
    }

    /// The single position of a point.
    var point: Coordinate? { levels == 1 ? positions.first : nil }
    /// The positions of a line.
    var line: [Coordinate]? { levels == 2 ? positions : nil }

    /// The rings of a polygon (`levels` 3) or of several (`levels` 4), each without its repeated last position.
    func rings() throws(ImportFault) -> [[Coordinate]] {
        var rings: [[Coordinate]] = []
        var start = 0
        for (index, end) in ends.enumerated() {
            let ring = positions[start..<end]
            start = end
            guard ring.first == ring.last else {
                throw ImportFault(.unsuitable("ring \(index + 1) is not closed; repeat its first position at its end"))
            }
            guard ring.count >= 4 else {
                throw ImportFault(.unsuitable("ring \(index + 1) has fewer than 4 positions; a triangle has 4"))
            }
            rings.append(Array(ring.dropLast()))
        }
        return rings
    }

    /// Returns the rings of each polygon. The first ring surrounds the others, its holes.
    func polygons() throws(ImportFault) -> [[[Coordinate]]] {
        let rings = try rings()
        return zip([0] + polygonEnds, polygonEnds).map { Array(rings[$0..<$1]) }
    }

    /// Reads an array at `depth` and returns how many levels it has.
    private mutating func read(
        _ json: inout JSONReader,
        _ collector: inout PlaceCollector,
        depth: Int
    ) throws(ImportFault) -> Int {
        guard depth <= 4 else {
            throw ImportFault(.unsuitable("the coordinates are nested too deeply"), line: json.line)
        }
        var levels: Int?
        var numbers = 0
        var pair = (0.0, 0.0)
        try json.array { (json) throws(ImportFault) in
            let below: Int
            switch try json.next {
            case UInt8(ascii: "["): below = try read(&json, &collector, depth: depth + 1)
            case UInt8(ascii: "-"), .some(0x30...0x39):
                let number = try json.number()
                if numbers == 0 { pair.0 = number ?? .infinity }
                if numbers == 1 { pair.1 = number ?? .infinity }
                numbers += 1
                below = 0
            default: throw ImportFault(.unsuitable("a coordinate is not a number"), line: json.line)
            }
            guard levels == nil || levels == below else {
                throw ImportFault(.unsuitable("the coordinates are nested unevenly"), line: json.line)
            }
            levels = below
        }
        guard let levels else { throw ImportFault(.unsuitable("the coordinates are empty"), line: json.line) }
        if levels == 0 {
            guard numbers >= 2 else {
                throw ImportFault(
                    .unsuitable("a position has one number; write [longitude, latitude]"),
                    line: json.line
                )
            }
            try append(latitude: pair.1, longitude: pair.0, &collector, line: json.line)
        } else if levels == 1 {
            ends.append(positions.count)
        } else if levels == 2 {
            polygonEnds.append(ends.count)
        }
        return levels + 1
    }

    private mutating func append(
        latitude: Double,
        longitude: Double,
        _ collector: inout PlaceCollector,
        line: Int
    ) throws(ImportFault) {
        guard (-90...90).contains(latitude) else {
            throw ImportFault(
                .invalid("the latitude", value: "\(latitude)", expected: "from -90 to 90, after the longitude"),
                line: line
            )
        }
        guard (-180...180).contains(longitude) else {
            throw ImportFault(
                .invalid("the longitude", value: "\(longitude)", expected: "from -180 to 180"),
                line: line
            )
        }
        try collector.count(vertices: 1)
        positions.append(Coordinate(latitude: latitude, longitude: longitude))
    }
}
