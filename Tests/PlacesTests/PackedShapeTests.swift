import BackgrounderAPI
import Places
import PlacesSimulation
import Testing

@Suite struct PackedShapeTests {
    private static func read(_ bytes: [UInt8]) -> PlaceShape? { bytes.withUnsafeBytes { PlaceShape(packed: $0) } }

    @Test func `a shape is read from its bytes`() {
        for shapeCase in ShapeCases.random(count: 200, seed: 3) {
            #expect(Self.read(shapeCase.shape.packed) == shapeCase.shape)
        }
    }

    @Test func `damaged bytes are no shape`() {
        let center = Coordinate(latitude: 1, longitude: 2)
        let circle = PlaceShape.circle(center: center, radius: 3).packed
        let polygon = PlaceShape.polygon(rings: [[center, center, center]]).packed
        #expect(Self.read([]) == nil)
        #expect(Self.read([9] + circle.dropFirst()) == nil)
        #expect(Self.read(circle.dropLast()) == nil)
        #expect(Self.read(circle.dropLast(8)) == nil)
        #expect(Self.read(circle + circle.dropFirst()) == nil)
        #expect(Self.read(polygon.dropLast(16)) == nil)
        for count in [UInt8.max, 4] {
            #expect(Self.read([2] + [UInt8](repeating: count, count: 8) + polygon.dropFirst(9)) == nil)
        }
    }
}
