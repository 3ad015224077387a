import BackgrounderAPI
import TestSupport
import Testing

@testable import Places

@Suite(.computing) struct CSVPlacesTests {
    private let rig: ImportRig

    init() throws { rig = try ImportRig() }

    @Test func `columns are found by name in any order, and others become properties`() throws {
        let places = try rig.places(
            """
            \u{FEFF}Longitude,tolerance,NAME,latitude,Radius,tags,course,id,Platform
            13.4,30,"Alexanderplatz, ""Mitte\"\"",52.5,25,"stop,night",90,s1,4
             13.5 ,, B ,52.6,,,,,

            """
        )
        #expect(
            places[0]
                == PlaceDefinition(
                    name: "Alexanderplatz, \"Mitte\"",
                    sourceId: "s1",
                    tags: ["stop", "night"],
                    properties: ["Platform": "4"],
                    shape: .circle(center: Coordinate(latitude: 52.5, longitude: 13.4), radius: 25),
                    course: 90,
                    tolerance: 30
                )
        )
        #expect(
            places[1]
                == PlaceDefinition(
                    name: "B",
                    shape: .circle(center: Coordinate(latitude: 52.6, longitude: 13.5), radius: 50)
                )
        )
        #expect(places.count == 2)
    }

    @Test(arguments: ["\n", "\r\n"])
    func `lines may end as on any system, and empty lines are skipped`(newline: String) throws {
        let lines = [
            "name,latitude,longitude", "", "A,1,2", "   ", "\"B\" ,3,\"4\"", "\"C\r\n\nx\",5,6",
            "D,7,8\u{1A}".dropLast().description, "\u{1A}",
        ]
        let places = try rig.places(lines.joined(separator: newline))
        #expect(places.map(\.name) == ["A", "B", "C  x", "D"])
        #expect(places.map(\.circle) == [[1, 2, 50], [3, 4, 50], [5, 6, 50], [7, 8, 50]])
    }

    @Test func `newlines in quoted fields count as lines`() throws {
        let message = try rig.refusal("name,latitude,longitude,\"x\ny\"\n\"A\n\nA\",1,2,\nB,x,2,")
        #expect(message == "file:6: the latitude is \"x\"; it must be a number from -90 to 90")
    }

    @Test func `a quotation mark inside an unquoted field is part of it`() throws {
        #expect(try rig.places("name,latitude,longitude\nthe \"Pub\",1,2").map(\.name) == ["the \"Pub\""])
    }

    @Test func `records are read alike wherever the blocks end`() throws {
        let header = "name,latitude,longitude\n"
        let records = "\"a,\"\"é\"\"\",1,2\r\n\"b\nb\",3,4\n"
        let expected = try rig.places(header + records)
        for padding in (ImportLimits.block - header.utf8.count - records.utf8.count - 2)..<ImportLimits.block {
            let places = try rig.places(header + String(repeating: "\n", count: padding) + records)
            guard places == expected else { throw TestFailure("padding \(padding): \(places)") }
        }
    }

    @Test(
        arguments: [
            ("A,91,2", #"the latitude is "91"; it must be a number from -90 to 90"#),
            ("A,1,181", #"the longitude is "181"; it must be a number from -180 to 180"#),
            ("A,1,", "the longitude is missing; add it in degrees"),
            ("A,NaN,2", #"the latitude is "NaN"; it must be a number from -90 to 90"#),
            ("A,1e999,2", #"the latitude is "1e999"; it must be a number from -90 to 90"#),
            ("A,inf,2", #"the latitude is "inf"; it must be a number from -90 to 90"#),
            ("A,0x1,2", #"the latitude is "0x1"; it must be a number from -90 to 90"#),
            (",1,2", "the name is missing; add a name"),
            ("B,1,2", #"the name "B" is also that of line 2; rename one, or give each an id"#),
            ("A,1,2,3", "damaged CSV: 4 fields, but the header has 3; quote fields with commas"),
            ("A", "damaged CSV: 1 field, but the header has 3; quote fields with commas"),
            ("\"A,1,2\n", "damaged CSV: a quotation mark is not closed"),
            ("\"A\"x,1,2", "damaged CSV: text after a closing quotation mark"),
            ("A\u{7},1,2", "the name has a control character; remove it"),
        ]
    )
    func `a faulty line is refused with its number`(line: String, message: String) throws {
        #expect(try rig.refusal("name,latitude,longitude\nB,\"1\",2\n\n\(line)", "a.csv") == "a.csv:4: \(message)")
    }

    @Test(
        arguments: [
            ("radius", "0", #"the radius is "0"; it must be a number of metres above 0"#),
            ("course", "north", #"the course is "north"; it must be a number of degrees from 0 to 360"#),
            ("tolerance", "0", #"the tolerance is "0"; it must be a number of degrees above 0, up to 180"#),
        ]
    )
    func `a faulty number in an optional column is refused`(column: String, value: String, message: String) throws {
        #expect(try rig.refusal("name,latitude,longitude,\(column)\nA,1,2,\(value)") == "file:2: \(message)")
    }

    @Test(
        arguments: [
            ("name,latitude\n", #"the column "longitude" is missing; name the columns in the first line"#),
            ("A,1,2\n", #"the column "name" is missing; name the columns in the first line"#),
            ("name;latitude;longitude\nA;1;2", "the columns are separated by semicolons; separate them by commas"),
            ("name\tlatitude\tlongitude\n", "the columns are separated by tabs; separate them by commas"),
            ("name,latitude,longitude,Name\n", #"the column "Name" appears twice; rename one"#),
            (
                "name,latitude,longitude" + (0..<300).map { ",\($0)" }.joined(),
                "more than 256 columns; remove some"
            ),
        ]
    )
    func `a faulty header is refused`(header: String, message: String) throws {
        #expect(try rig.refusal(header) == "file:1: \(message)")
    }

    @Test func `a header without lines below it is refused`() throws {
        #expect(try rig.refusal("name,latitude,longitude\n\n") == "file: no places; add a line below the header")
    }

    @Test func `invalid UTF-8 is refused with its line`() throws {
        let bytes = Array("name,latitude,longitude\nGr".utf8) + [0xFC] + Array("n,1,2".utf8)
        #expect(try rig.refusal(bytes) == "file:2: invalid UTF-8; save the file as UTF-8")
    }

    @Test func `a line of megabytes is refused in constant memory`() throws {
        let line = "name,latitude,longitude\n\"" + String(repeating: "x", count: 3 << 20)
        #expect(try rig.refusal(line) == "file:2: a line is longer than 1048576 bytes; shorten it")
    }
}
