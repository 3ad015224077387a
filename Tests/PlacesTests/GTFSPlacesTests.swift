import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite struct GTFSPlacesTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    private func places(_ files: [String: String]) async throws -> [PlaceDefinition] {
        try PlaceFile.read(try await TestArchive.make(files, in: rig.scratch), source: "feed")
    }

    private func refusal(_ files: [String: String]) async throws -> String {
        rig.message(try await TestArchive.make(files, in: rig.scratch)) { path throws(PlaceFileFault) in
            _ = try PlaceFile.read(path)
        }
    }

    @Test func `stops and platforms are places with the tag stop, and other columns are properties`() async throws {
        let places = try await places(["stops.txt": TestArchive.stops, "agency.txt": TestArchive.agency])
        #expect(
            places == [
                PlaceDefinition(
                    name: "First, north",
                    source: "feed",
                    sourceId: "s1",
                    tags: ["stop"],
                    properties: ["stop_code": "c1"],
                    shape: .circle(center: Coordinate(latitude: 52.1, longitude: 13.1), radius: 50)
                ),
                PlaceDefinition(
                    name: "Second",
                    source: "feed",
                    sourceId: "s2",
                    tags: ["stop"],
                    properties: ["stop_code": "c2", "zone_id": "B"],
                    shape: .circle(center: Coordinate(latitude: 52.3, longitude: 13.3), radius: 50)
                ),
            ]
        )
    }

    @Test func `a feed whose tables lie in a folder is read`() async throws {
        let files = ["feed/stops.txt": TestArchive.stops, "__MACOSX/feed/._stops.txt": "x"]
        #expect(try await places(files).map(\.sourceId) == ["s1", "s2"])
    }

    @Test func `names may repeat where the stop ids differ`() async throws {
        let stops = "stop_id,stop_name,stop_lat,stop_lon\na,Same,1,2\nb,Same,3,4\n"
        #expect(try await places(["stops.txt": stops]).map(\.name) == ["Same", "Same"])
    }

    @Test(
        arguments: [
            ("s1,A,1,2,0", #"the id "s1" is also that of line 2; give each place an id of its own"#, "s1"),
            ("a,,1,2,0", "the stop_name is missing; export the feed again", "a"),
            ("a,A,91,2,0", #"the latitude is "91"; it must be a number from -90 to 90"#, "a"),
            ("a,A,,2,0", "the latitude is missing; add it in degrees", "a"),
            ("a,A,1,1e999,0", #"the longitude is "1e999"; it must be a number from -180 to 180"#, "a"),
        ]
    )
    func `a faulty stop is refused with its line and id`(line: String, message: String, id: String) async throws {
        let stops = "stop_id,stop_name,stop_lat,stop_lon,location_type\r\ns1,B,1,2,0\r\n\(line)\r\n"
        #expect(try await refusal(["stops.txt": stops]) == #"feed.zip: stops.txt:3: stop "\#(id)": \#(message)"#)
    }

    @Test(
        arguments: [
            (",A,1,2,0", "feed.zip: stops.txt:2: the stop_id is missing; export the feed again"),
            ("a,A,1,2,5", #"feed.zip: stops.txt:2: the location_type is "5"; it must be from 0 to 4"#),
            ("a,A,1,2", "feed.zip: stops.txt:2: damaged CSV: 4 fields, but the header has 5; quote fields with commas"),
            ("a,A,1,2,1", "feed.zip: stops.txt: no stops"),
        ]
    )
    func `a faulty table is refused with its line`(line: String, message: String) async throws {
        let stops = "stop_id,stop_name,stop_lat,stop_lon,location_type\n\(line)\n"
        #expect(try await refusal(["stops.txt": stops]) == message)
    }

    @Test(
        arguments: [
            (["agency.txt": TestArchive.agency], "feed.zip: no stops.txt in the archive; name a GTFS feed"),
            (
                ["a/stops.txt": TestArchive.stops, "b/stops.txt": TestArchive.stops],
                "feed.zip: several folders have a stops.txt; pack one feed"
            ),
            (["stops.txt": ""], "feed.zip: stops.txt: the file is empty; export it again"),
            (
                ["stops.txt": "stop_id,stop_name,stop_lat\n"],
                #"feed.zip: stops.txt:1: the column "stop_lon" is missing; export the feed again"#
            ),
            (
                ["stops.txt": "stop_id,stop_name,stop_lat,stop_lon,stop_id\n"],
                #"feed.zip: stops.txt:1: the column "stop_id" appears twice; rename one"#
            ),
        ]
    )
    func `a feed without stops is refused`(files: [String: String], message: String) async throws {
        #expect(try await refusal(files) == message)
    }
}
