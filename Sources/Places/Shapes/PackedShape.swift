package import BackgrounderAPI

/// A shape as bytes for a database: about ten times faster to read than JSON.
///
/// The kind, then numbers of 8 bytes, little-endian. A circle has its radius and centre, a line its width and positions, a polygon
/// for each ring the number of positions and these. A position is a latitude and a longitude.
extension PlaceShape {
    private enum Kind: UInt8 { case circle = 1, polygon, line }

    /// The shape as bytes.
    package var packed: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ bits: UInt64) { withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) } }
        func append(_ coordinates: [Coordinate]) {
            for coordinate in coordinates {
                append(coordinate.latitude.bitPattern)
                append(coordinate.longitude.bitPattern)
            }
        }
        switch self {
        case .circle(let center, let radius):
            bytes.append(Kind.circle.rawValue)
            append(radius.bitPattern)
            append([center])
        case .polygon(let rings):
            bytes.append(Kind.polygon.rawValue)
            for ring in rings {
                append(UInt64(ring.count))
                append(ring)
            }
        case .line(let points, let width):
            bytes.append(Kind.line.rawValue)
            append(width.bitPattern)
            append(points)
        }
        return bytes
    }

    /// Reads a shape; `nil` if the bytes are damaged. The numbers are not checked.
    package init?(packed bytes: UnsafeRawBufferPointer) {
        guard let kind = bytes.first.flatMap(Kind.init), (bytes.count - 1) % 8 == 0 else { return nil }
        var offset = 1
        func next() -> UInt64? {
            guard offset < bytes.count else { return nil }
            defer { offset += 8 }
            return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        func coordinates(_ count: Int) -> [Coordinate]? {
            guard count >= 0, count <= (bytes.count - offset) / 16 else { return nil }
            return (0..<count).compactMap { _ in
                guard let latitude = next(), let longitude = next() else { return nil }
                return Coordinate(latitude: Double(bitPattern: latitude), longitude: Double(bitPattern: longitude))
            }
        }
        switch kind {
        case .circle:
            guard let radius = next(), let center = coordinates(1), offset == bytes.count else { return nil }
            self = .circle(center: center[0], radius: Double(bitPattern: radius))
        case .polygon:
            var rings: [[Coordinate]] = []
            while offset < bytes.count {
                guard let count = next().flatMap(Int.init(exactly:)), let ring = coordinates(count) else { return nil }
                rings.append(ring)
            }
            self = .polygon(rings: rings)
        case .line:
            guard let width = next(), let points = coordinates((bytes.count - offset) / 16), offset == bytes.count
            else { return nil }
            self = .line(points: points, width: Double(bitPattern: width))
        }
    }
}
