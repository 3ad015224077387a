import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite struct GTFSRouteTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    /// A loop that visits its first stop twice, after midnight, among the stops of another trip and out of order.
    private static let feed = [
        "stops.txt": """
        stop_id,stop_name,stop_lat,stop_lon
        a,Alpha,1,10
        b,Beta,2,20
        c,Gamma,3,30
        x,,,

        """,
        "routes.txt": "route_id,route_short_name,route_long_name\nr1,M41,Long\nr2,,Only long\nr3,,\n",
        "trips.txt": """
        route_id,service_id,trip_id,trip_headsign,shape_id
        r1,w,t1,"Centre, ""Loop""\",s1
        r2,w,t2,,
        r9,w,t3,,s9
        r3,w,t4,,
        r3,w,t5,,
        r3,w,t6,,
        "r1",w,"t""7",,s2

        """,
        "stop_times.txt": """
        trip_id,arrival_time,departure_time,stop_id,stop_sequence,shape_dist_traveled
        t1,24:59:00,25:00:00,a,30,2.5
        t2,,,a,1,
        t1,23:50:00,23:51:00,a,5,0
        t1, 7:05:09,,b,10,1
        t2,8:00:00,8:00:00,b,2,
        t3,,,a,1,0.5
        t3,,,c,2,4
        t4,,,a,1,
        t5,,,a,1,
        t5,,,z,2,
        t6,,,a,1,
        t6,,,x,2,
        "t""7",1:00:00,1:00:00,a,0,
        "t""7",1:00:00,1:00:00,b,1,

        """,
        "shapes.txt": """
        shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled
        s1,3,30,30,2.5
        s1,1,10,1,0
        s2,5,5,1,
        s1,2,20,2,1
        s2,6,6,2,3

        """,
    ]

    private func route(_ trip: String, _ changes: [String: String?] = [:]) async throws -> RouteDefinition {
        try RouteFile.gtfs(try await archive(changes), trip: trip)
    }

    private func refusal(_ trip: String, _ changes: [String: String?] = [:]) async throws -> String {
        rig.message(try await archive(changes)) { path throws(PlaceFileFault) in
            _ = try RouteFile.gtfs(path, trip: trip)
        }
    }

    private func archive(_ changes: [String: String?]) async throws -> String {
        var files = Self.feed
        for (name, text) in changes { files[name] = text }
        return try await TestArchive.make(files, in: rig.scratch)
    }

    @Test func `a trip has its stops in order, with times after midnight, and its shape`() async throws {
        let (a, b) = (Coordinate(latitude: 1, longitude: 10), Coordinate(latitude: 2, longitude: 20))
        #expect(
            try await route("t1")
                == RouteDefinition(
                    name: "M41",
                    headsign: "Centre, \"Loop\"",
                    tripId: "t1",
                    stops: [
                        .init(
                            sequence: 5,
                            name: "Alpha",
                            sourceId: "a",
                            coordinate: a,
                            arrival: 85_800,
                            departure: 85_860,
                            shapeDistance: 0
                        ),
                        .init(
                            sequence: 10,
                            name: "Beta",
                            sourceId: "b",
                            coordinate: b,
                            arrival: 25_509,
                            shapeDistance: 1
                        ),
                        .init(
                            sequence: 30,
                            name: "Alpha",
                            sourceId: "a",
                            coordinate: a,
                            arrival: 89_940,
                            departure: 90_000,
                            shapeDistance: 2.5
                        ),
                    ],
                    shape: [a, b, Coordinate(latitude: 3, longitude: 30)],
                    shapeDistances: [0, 1, 2.5]
                )
        )
    }

    @Test func `without a shape the line goes through the stops`() async throws {
        let route = try await route("t2")
        #expect(route.name == "Only long")
        #expect(route.headsign == nil)
        #expect(route.shape.map(\.latitude) == [1, 2])
        #expect(route.shapeDistances == nil)
        #expect(route.stops.map(\.arrival) == [nil, 28_800])
    }

    @Test func `without the tables of shapes and routes the line goes through the stops, with their distances`()
        async throws
    {
        let route = try await route("t3", ["shapes.txt": nil, "routes.txt": nil])
        #expect(route.name == nil)
        #expect(route.shape.map(\.latitude) == [1, 3])
        #expect(route.shapeDistances == [0.5, 4])
    }

    @Test func `ids may have quotation marks, and distances of a part of a shape are dropped`() async throws {
        let route = try await route("t\"7")
        #expect(route.stops.map(\.name) == ["Alpha", "Beta"])
        #expect(route.shape.map(\.latitude) == [5, 6])
        #expect(route.shapeDistances == nil)
    }

    @Test(
        arguments: [
            ("none", #"feed.zip: trips.txt: no trip "none"; use a trip_id of the file"#),
            ("t3", #"feed.zip: shapes.txt: the shape "s9" has fewer than 2 positions; export the feed again"#),
            ("t4", #"feed.zip: stop_times.txt: the trip "t4" has fewer than 2 stops; choose another trip"#),
            ("t5", #"feed.zip: stop_times.txt:11: the stop "z" is not in stops.txt; export the feed again"#),
            ("t6", #"feed.zip: stops.txt:5: stop "x": the stop_name is missing; export the feed again"#),
        ]
    )
    func `a trip that is incomplete is refused`(trip: String, message: String) async throws {
        #expect(try await refusal(trip) == message)
    }

    @Test(arguments: ["stops.txt", "trips.txt", "stop_times.txt"])
    func `a missing table is refused`(table: String) async throws {
        let reason = table == "stops.txt" ? "name a GTFS feed" : "export the feed again"
        #expect(try await refusal("t1", [table: nil]) == "feed.zip: no \(table) in the archive; \(reason)")
    }

    @Test(
        arguments: [
            ("8:00:60", "a,1,", #"the arrival_time is "8:00:60"; it must be a time such as 25:10:00"#),
            ("8:60:00", "a,1,", #"the arrival_time is "8:60:00"; it must be a time such as 25:10:00"#),
            ("08:00", "a,1,", #"the arrival_time is "08:00"; it must be a time such as 25:10:00"#),
            ("+8:00:00", "a,1,", #"the arrival_time is "+8:00:00"; it must be a time such as 25:10:00"#),
            (
                "99999999999999999999:00:00", "a,1,",
                #"the arrival_time is "99999999999999999999:00:00"; it must be a time such as 25:10:00"#
            ),
            ("", ",1,", "the stop_id is missing; export the feed again"),
            ("", "a,,", "the stop_sequence is missing; export the feed again"),
            ("", "a,-1,", #"the stop_sequence is "-1"; it must be a whole number from 0 on"#),
            (
                "", "a,99999999999999999999,",
                #"the stop_sequence is "99999999999999999999"; it must be a whole number from 0 on"#
            ),
            ("", "a,1,far", #"the shape_dist_traveled is "far"; it must be a number from 0 on"#),
        ]
    )
    func `a faulty time of a stop is refused with its line`(time: String, rest: String, message: String) async throws {
        let table = """
            trip_id,arrival_time,stop_id,stop_sequence,shape_dist_traveled
            t9,never,,,
            t1,\(time),\(rest)

            """
        #expect(try await refusal("t1", ["stop_times.txt": table]) == "feed.zip: stop_times.txt:3: \(message)")
    }

    @Test func `a repeated stop_sequence is refused`() async throws {
        let table = "trip_id,stop_id,stop_sequence\nt1,a,1\nt1,b,2\nt1,a,2\n"
        #expect(
            try await refusal("t1", ["stop_times.txt": table])
                == #"feed.zip: stop_times.txt:4: the stop_sequence "2" is also that of line 3; export the feed again"#
        )
    }

    @Test(
        arguments: [
            ("s1,1,1,1,0\ns1,1,1,1,1", 3, #"the shape_pt_sequence "1" is also that of line 2; export the feed again"#),
            ("s1,1,1,1,5\ns1,1,1,2,4", 3, #"the shape_dist_traveled is "4.0"; it must be at least that of line 2"#),
            ("s1,91,1,1,5", 2, #"the latitude is "91"; it must be a number from -90 to 90"#),
            ("s1,1,1,x,5", 2, #"the shape_pt_sequence is "x"; it must be a whole number from 0 on"#),
        ]
    )
    func `a faulty shape is refused with its line`(lines: String, line: Int, message: String) async throws {
        let table = "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence,shape_dist_traveled\n\(lines)\n"
        #expect(try await refusal("t1", ["shapes.txt": table]) == "feed.zip: shapes.txt:\(line): \(message)")
    }

    @Test func `a trip or stop that appears twice is refused`() async throws {
        let trips = "trip_id,route_id\nt1,r1\nt1,r1\n"
        #expect(
            try await refusal("t1", ["trips.txt": trips])
                == #"feed.zip: trips.txt:3: a second trip "t1"; remove one"#
        )
        let stops = "stop_id,stop_name,stop_lat,stop_lon\na,A,1,2\nb,B,1,2\na,A,1,2\n"
        #expect(
            try await refusal("t1", ["stops.txt": stops])
                == #"feed.zip: stops.txt:4: stop "a": the stop appears twice; remove one"#
        )
    }

    @Test func `a trip of more than 10,000 stops is refused`() async throws {
        let table = "trip_id,stop_id,stop_sequence\n" + (0...10_000).map { "t1,a,\($0)\n" }.joined()
        #expect(
            try await refusal("t1", ["stop_times.txt": table])
                == "feed.zip: stop_times.txt:10002: more than 10000 stops of a trip; check the feed"
        )
    }

    @Test func `a wrong checksum after the last line of the trip is noticed`() async throws {
        let path = try await archive([:])
        try await Tool.run(
            "/usr/bin/python3",
            "-c",
            """
            import sys
            data = bytearray(open(sys.argv[1], "rb").read())
            at = data.rindex(b"stop_times.txt") - 46
            data[at + 16] ^= 1
            open(sys.argv[1], "wb").write(data)
            """,
            path
        )
        let message = rig.message(path) { path throws(PlaceFileFault) in _ = try RouteFile.gtfs(path, trip: "t1") }
        #expect(message == "feed.zip: stop_times.txt: wrong checksum; download the archive again")
    }

    @Test(
        arguments: [
            ("name,latitude,longitude", "file: not a zip archive, or cut off; download it again"),
            ("", "file: the file is empty; export it again"),
        ]
    )
    func `a file that is not an archive is refused`(content: String, message: String) throws {
        let path = try rig.scratch.write(content, to: "file")
        #expect(
            rig.message(path) { path throws(PlaceFileFault) in _ = try RouteFile.gtfs(path, trip: "t1") } == message
        )
    }
}
