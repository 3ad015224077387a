import BackgrounderAPI
import Foundation
import Testing

@Suite struct PlaceTests {
    @Test func `a place's JSON is flat, and decoding it gives the place`() throws {
        for place in Sample.places {
            let data = try JSON.encode(place)
            #expect(try JSON.decode(Place.self, from: data) == place)
            let members = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(members["name"] as? String == place.definition.name)
            #expect(members["definition"] == nil)
        }
        let polygon = String(decoding: try JSON.encode(Sample.places[1].definition.shape), as: UTF8.self)
        #expect(polygon == #"{"rings":[[[0,0],[0,1],[1,0]]],"type":"polygon"}"#)
    }

    @Test(arguments: [
        ("54.3,10.1", Coordinate(latitude: 54.3, longitude: 10.1)),
        ("-90,-180", Coordinate(latitude: -90, longitude: -180)),
        ("91,0", nil), ("0,181", nil), ("nan,0", nil), ("1", nil), ("1,2,3", nil), ("", nil), ("a,b", nil),
    ])
    func `a position is latitude and longitude`(text: String, position: Coordinate?) {
        #expect(Coordinate(text) == position)
    }

    @Test func `a definition with a text that is not valid is refused in one line`() {
        func problem(
            _ name: String = "A",
            tags: [String] = [],
            properties: [String: String] = [:]
        ) -> String? {
            PlaceDefinition(
                name: name,
                tags: tags,
                properties: properties,
                shape: .circle(center: Coordinate(latitude: 0, longitude: 0), radius: 1)
            ).problem
        }
        #expect(problem() == nil)
        #expect(problem(String(repeating: "a", count: 256)) == nil)
        #expect(problem("")?.contains("is not a valid name") == true)
        #expect(problem("a\nb")?.contains("without control characters") == true)
        #expect(problem(String(repeating: "a", count: 257)) != nil)
        #expect(problem(tags: [""])?.contains("tags") == true)
        #expect(problem(tags: (0...32).map(String.init)) != nil)
        #expect(problem(properties: ["": "a"])?.contains("properties") == true)
        #expect(problem(properties: ["a": String(repeating: "b", count: 20_000)]) != nil)
    }
}
